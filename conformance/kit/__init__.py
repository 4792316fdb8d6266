"""What a chapter's test module needs: `Case`, `every` and `judge`.

@dataclass(frozen=True)
class Put(Case):
    source: str
    target: str

puts = every(Put, source=places.SOURCES, target=places.TARGETS).where(lambda case: case.fits)
test_puts = judge(probe="put.put", cases=puts)
"""

from .cases import Case, Cases, Eight, Four, Judgement, every, judge

__all__ = ["Case", "Cases", "Eight", "Four", "Judgement", "every", "judge"]
