"""What is said of the models of the catalogue, in people's own language: what each is for, which languages, which size."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, QLocale

from app.core.catalogue import CatalogueModel
from app.services.units import count, parameter_count

translate = QCoreApplication.translate
_MANY = "many"
_MOST_LANGUAGES = 8

PURPOSES = (
    QT_TRANSLATE_NOOP(
        "Catalogue",
        "The starter model: shows how everything works, in seconds and on any machine. Do not rely on what it says.",
    ),
    QT_TRANSLATE_NOOP("Catalogue", "Tiny: rewrites and shortens English sentences on very old machines."),
    QT_TRANSLATE_NOOP("Catalogue", "Very small, thinks before it answers, and knows many languages a little."),
    QT_TRANSLATE_NOOP("Catalogue", "Small and quick, for short English texts on machines with little memory."),
    QT_TRANSLATE_NOOP("Catalogue", "Small: short summaries and rewording in eight languages."),
    QT_TRANSLATE_NOOP("Catalogue", "Everyday English questions on a machine with 4 GB of memory."),
    QT_TRANSLATE_NOOP("Catalogue", "A small one that thinks before it answers, in many languages."),
    QT_TRANSLATE_NOOP(
        "Catalogue",
        "Fully open, with data and recipe: everyday texts in six European languages, with or without thinking.",
    ),
    QT_TRANSLATE_NOOP("Catalogue", "Summaries, letters and everyday questions on machines with 8 GB of memory."),
    QT_TRANSLATE_NOOP("Catalogue", "Sober answers from documents: summaries, sorting, taking facts out of a text."),
    QT_TRANSLATE_NOOP("Catalogue", "Sums and logic in short English answers."),
    QT_TRANSLATE_NOOP("Catalogue", "Writes well for its size, in very many languages."),
    QT_TRANSLATE_NOOP(
        "Catalogue",
        "A good first real model: answers at once, follows instructions, reads very long texts, on most machines.",
    ),
    QT_TRANSLATE_NOOP("Catalogue", "Writes, explains and mends program code; weaker in plain conversation."),
    QT_TRANSLATE_NOOP("Catalogue", "A dependable all-rounder for conversation, drafts and summaries."),
    QT_TRANSLATE_NOOP(
        "Catalogue",
        "Thinks before it answers: sums, plans, code and many languages on a machine with 16 GB of memory.",
    ),
    QT_TRANSLATE_NOOP("Catalogue", "Careful, fluent texts in very many languages, for graphics cards with 12 GB."),
    QT_TRANSLATE_NOOP("Catalogue", "Longer and harder tasks, with thinking, for graphics cards with 12 to 16 GB."),
    QT_TRANSLATE_NOOP(
        "Catalogue", "Thinks before it answers and is quick for its size: of its experts only some work on each word."
    ),
    QT_TRANSLATE_NOOP(
        "Catalogue", "Precise answers, long documents and European languages, for graphics cards with 20 GB or more."
    ),
    QT_TRANSLATE_NOOP("Catalogue", "The largest Gemma 3: fluent writing and translation in very many languages."),
    QT_TRANSLATE_NOOP(
        "Catalogue", "Much knowledge at the speed of a small model: of its many experts only some work on each word."
    ),
    QT_TRANSLATE_NOOP("Catalogue", "Hard questions, with thinking, for graphics cards with 24 GB."),
    QT_TRANSLATE_NOOP("Catalogue", "Thinks long about sums, proofs and code before it answers; slow for small talk."),
    QT_TRANSLATE_NOOP(
        "Catalogue", "Broad knowledge and good style, for workstations with 48 GB of graphics memory or more."
    ),
)
"""All sentences of the catalogue, so that a translator finds them; it holds them itself as well, in English."""


def purpose_of(model: CatalogueModel) -> str:
    """Return what a model is for."""
    return translate("Catalogue", model.purpose)


def language(code: str) -> str:
    """Return a language as its own speakers call it."""
    name = QLocale(code).nativeLanguageName() if code != "en" else "English"  # Qt would say of which country
    return f"{name[:1].upper()}{name[1:]}" if name else code


def languages_of(codes: Sequence[str]) -> str:
    """Return the languages that a model was trained for."""
    named = [language(code) for code in codes if code != _MANY]
    said = ", ".join(named[:_MOST_LANGUAGES])
    if len(named) > _MOST_LANGUAGES:
        return f"{said} …"
    return translate("Catalogue", "{languages} and dozens more").format(languages=said) if _MANY in codes else said


def facts_of(model: CatalogueModel) -> list[str]:
    """Return what people compare: size of the model, how it is stored, license, context."""
    parameters = parameter_count(model.parameters)
    if model.active is not None:
        parameters = translate("Catalogue", "{all}, of which {active} work on a token").format(
            all=parameters, active=parameter_count(model.active)
        )
    return [
        parameters,
        translate("Catalogue", "{quantisation}, {bits} bits per weight").format(
            quantisation=model.quantisation, bits=f"{model.bits_per_weight:.1f}"
        ),
        translate("Catalogue", "context {count}").format(count=count(model.context)),
        model.license,
    ]
