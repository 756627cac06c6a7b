"""The states of the page Compare: how each comes about."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton, QPushButton, QToolButton

from tests.e2e.scene import Scene, words_of
from tests.e2e.weighing import recorded

QUESTION = "Why is the sky blue? Answer in a few sentences, and then give one example that a child understands."
SHARED = "The sky is blue because air scatters"
ENDINGS = (
    """ blue light more than red light. Sunlight is a mixture of all colours, and the blue part is bounced about by the \
air until it comes from **everywhere**.

- Think of a ball pit: the small balls fly in all directions, the heavy ones roll straight on.""",
    """ short waves far more than long ones. What reaches your eye from the side is mostly blue.

> Hold a glass of water with a drop of milk against a lamp: it looks bluish from the side.""",
    """ sunlight, and it scatters the blue in it best. At noon the way through the air is short; in the evening it is \
long, and the blue is gone before the light arrives: that is why sunsets are **red**.""",
    """ light like a crowd scatters marbles: small quick ones go everywhere. A torch in fog does the same.

1. Take a torch.
2. Find some fog.
3. Look from the side.""",
    """ colours as a painter flings paint off a wet brush, and blue is the lightest, giddiest drop of them all; it lands \
on every rooftop, in every puddle, and in the eye of a cat that wonders why.""",
)
WORDS = tuple(dict.fromkeys(word for ending in ENDINGS for word in words_of(SHARED + ending)))
"""The model's vocabulary begins with them."""
OTHERS = tuple(WORDS.index(words_of(ending)[1]) for ending in ENDINGS)
"""What the model weighs where the lanes part."""


def asked(scene: Scene) -> None:
    """A question of a chat was answered."""
    scene.load("".join(WORDS))
    scene.program.sampling.change(seed=7)
    scene.answer(QUESTION, SHARED + ENDINGS[0])


def set_up(scene: Scene) -> None:
    """Somebody is about to compare settings."""
    asked(scene)
    scene.find(QToolButton, "compare_button").click()


def begin(scene: Scene) -> None:
    """Start what is set up, and let the prompt be read."""
    scene.find(QPushButton, "compare_start_button").click()
    scene.desk.settle()
    scene.desk.engine.lanes.prompt(1_482, 0, ms=11_300)
    scene.desk.engine.lanes.plan()
    scene.desk.settle()


def write(scene: Scene, share: float = 1.0) -> None:
    """Let every lane write that share of its text, a token for each word."""
    lanes = scene.desk.engine.lanes
    for lane in lanes.open:
        words = words_of(SHARED + ENDINGS[lane % len(ENDINGS)])
        words = words[: max(1, round(len(words) * share * (1 - lane / 16)))]
        tokens = [WORDS.index(word) for word in words]
        for word, token in zip(words[:-1], tokens, strict=False):
            lanes.write(lane, word, token=token)
        lanes.write(lane, words[-1], token=tokens[-1], record=recorded(tokens, lane, OTHERS, SHARED.count(" ") + 1))
    scene.desk.settle()


def compare_running(scene: Scene) -> None:
    """Five lanes are written, one was stopped."""
    set_up(scene)
    begin(scene)
    write(scene, 0.8)
    scene.desk.engine.lanes.finish(4, "cancelled")
    scene.desk.settle()


def compare_done(scene: Scene) -> None:
    """Three lanes have ended."""
    set_up(scene)
    for letter in ("e", "d"):
        scene.find(QToolButton, f"set_up_remove_{letter}").click()
    begin(scene)
    write(scene)
    scene.desk.engine.lanes.finish(1, "length")
    scene.desk.engine.lanes.end(11_300.0)
    scene.desk.settle()


def compare_branches(scene: Scene) -> None:
    """Five lanes have ended and are shown as one tree."""
    set_up(scene)
    begin(scene)
    write(scene)
    scene.desk.engine.lanes.end(11_300.0)
    scene.desk.settle()
    scene.find(QAbstractButton, "compare_branches_tab").click()


def compare_grid(scene: Scene) -> None:
    """A grid of two settings is written in waves."""
    set_up(scene)
    scene.find(QPushButton, "start_grid").click()
    scene.find(QPushButton, "compare_start_button").click()
    scene.desk.settle()
    lanes = scene.desk.engine.lanes
    lanes.prompt(1_482, 0, ms=11_300)
    lanes.plan(limit=213, lowered=True)
    scene.desk.settle()
    for lane in lanes.open[:8]:
        lanes.write(lane, SHARED + ENDINGS[lane % len(ENDINGS)], 40)
        lanes.finish(lane)
    for lane in lanes.open[:5]:
        lanes.write(lane, SHARED + ENDINGS[lane % len(ENDINGS)][: 40 + 9 * lane], 20)
    scene.desk.settle()
