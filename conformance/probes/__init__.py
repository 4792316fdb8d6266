"""What runs in the subject's process: a user's JAX code that does the thing and notes what it saw. No probe asserts."""
