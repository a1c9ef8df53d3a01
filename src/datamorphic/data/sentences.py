"""Simple English texts of our own, as source cases for machine translation systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: one sentence each, with a verb and a plural
SENTENCES: tuple[str, ...] = (
    "Mary likes apples.",
    "The cat drinks milk.",
    "My sister reads books.",
    "The teacher answered two questions.",
    "Our neighbour sells old cars.",
    "The boy eats three eggs.",
    "Anna writes long letters.",
    "The farmer keeps horses.",
    "This shop sells shoes.",
    "My father fixed the doors.",
    "The girl draws flowers.",
    "Peter collects stamps.",
    "The woman bought new lamps.",
    "Her brother plays games.",
    "The man opened all windows.",
    "My uncle paints pictures.",
    "The child wants more toys.",
    "Their mother washed the plates.",
    "The student lost his keys.",
    "Our guide has good maps.",
    "The children saw many birds.",
    "My aunt plants trees.",
    "The museum has old ships.",
    "The young man wears hats.",
    "Paul sent two emails.",
    "The kitchen has white walls.",
    "The singer knows many songs.",
    "My friend takes photos.",
    "The office needs new chairs.",
    "The old lady loves her dogs.",
    "The company makes phones.",
    "The workers closed the roads.",
    "The hotel has large rooms.",
    "John paid for the tickets.",
    "The doctor needs clean papers.",
    "The cook used five lemons.",
    "My grandmother made shirts.",
    "The waiter brings the cups.",
    "The king has gold rings.",
    "The class learned new words and the teacher used pencils.",
    "The bank counts coins.",
    "The gardener takes the seeds.",
    "The city has beautiful houses.",
    "The visitor found some coins.",
    "The dog sees the cats.",
    "The teacher helps the students.",
    "Lucy gave gifts.",
    "The night sky has many stars.",
    "The family visits friends.",
    "The mechanic works with tools.",
    "My cousin buys oranges.",
    "The secretary has red pens.",
    "The restaurant has small tables.",
    "The man carries heavy bags.",
    "The driver cleaned the windows.",
    "The soup needs spoons.",
)

#: two sentences each, with a phrase that has a well-known abbreviation
PAIRS: tuple[str, ...] = (
    "The shop sells books. Please send the letters as soon as possible.",
    "My brother is at home. He wants the keys as soon as possible.",
    "The car is broken. We need the tools as soon as possible.",
    "The guests are hungry. Bring the plates as soon as possible.",
    "The house is cold. Close the windows as soon as possible.",
    "Anna has a problem. She needs answers to two questions as soon as possible.",
    "The train left early. Please buy the tickets as soon as possible.",
    "The plants are dry. Give them water as soon as possible.",
    "The office is closed. Call your friends as soon as possible.",
    "The meeting is tomorrow. Read the papers as soon as possible.",
    "My sister works at night. She sleeps as soon as possible.",
    "The doctor is late. He arrives as soon as possible.",
    "The school needs help. Find new teachers as soon as possible.",
    "The river is high. Leave the houses as soon as possible.",
    "The dogs are tired. Take them home as soon as possible.",
    "The room is dark. Repair the lamps as soon as possible.",
    "The museum opens today. Bring the pictures as soon as possible.",
    "Peter lost his bag. He needs his phone as soon as possible.",
    "The kitchen is dirty. Clean the tables as soon as possible.",
    "The bread is ready. Eat it as soon as possible.",
    "The boss is angry. Send the emails as soon as possible.",
    "The garden is empty. Plant the trees as soon as possible.",
    "My father is ill. He needs a doctor as soon as possible.",
    "The rain is heavy. Close the doors as soon as possible.",
    "The letter is important. Answer it as soon as possible.",
    "The cat is hungry. Buy milk as soon as possible.",
    "The bus is here. Take your bags as soon as possible.",
    "The wall is old. Paint it as soon as possible.",
    "Mister Smith likes apples. His wife likes oranges.",
    "Mister Brown has two dogs. They live in his house.",
    "Mister Green teaches music. The students love his songs.",
    "I know Mister White. He lives near the school.",
    "Mister Jones drives fast cars. His son is a doctor.",
    "The door is open. Mister Black is in the garden.",
    "Mister Taylor writes books. He sells them in his shop.",
    "Mister Wilson is our teacher. He knows many words.",
    "Mister Davis opened the window. The room is warm.",
    "Mister Evans sells phones. His shop is small.",
    "My mother called Mister Thomas. He repaired the chairs.",
    "Mister Roberts reads the letters. Then he drinks coffee.",
    "Mister Walker visits the museum. He takes photos.",
    "The phone is new. Mister Wright bought it yesterday.",
    "Mister Robinson has a farm. He keeps horses.",
    "Mister Hall works in the city. He drives home at night.",
    "We visited Mister Young. He has a beautiful house.",
    "Mister King paid for the tickets. The film was good.",
    "Mister Scott washes the plates. His daughter cleans the cups.",
    "Mister Baker makes bread. The people love his shop.",
    "The boy found a coin. Mister Adams gave him a book.",
    "Mister Carter plays the piano. His friends sing songs.",
    "Mister Mitchell needs new shoes. The old ones are broken.",
    "Mister Turner paints ships. He lives near the sea.",
    "The teacher is ill. Mister Collins helps the students.",
    "Mister Parker watches the birds. They are in the trees.",
    "Mister Cook eats eggs. He drinks milk.",
    "Mister Bell closed the shop. It was late.",
    "Mister Ward wears hats. His brother has red shirts.",
    "Mister Gray lost his keys. He found them in the car.",
)


def load_sentences() -> pd.DataFrame:
    """Return the texts as a frame with the columns ``text`` and ``direction``.

    They are 114 texts, of one or two sentences. The relations of ``dm.translation_relations`` apply to at least 50 of them each.

    Examples
    --------
    >>> from datamorphic.data.sentences import load_sentences
    >>> load_sentences().iloc[0].to_dict()
    {'text': 'Mary likes apples.', 'direction': 'eng-spa'}
    """
    import pandas as pd

    return pd.DataFrame({"text": [*SENTENCES, *PAIRS], "direction": "eng-spa"})
