"""What can be judged, and the host that holds it in a process of its own."""
