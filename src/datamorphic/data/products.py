"""A synthetic catalogue of a shop, in English and in Chinese, and queries that look for its products.

Titles are written as sellers write them, each in their own way: "Men's Wool Sweater", "Sweaters for Men, wool", "Mens sweater", or
without any word for men, because the department says it. So the words of a query decide which of the same products it finds.
The queries follow Ying (2024, section 6.5.1): goods, and "women" or "men".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._estimates import refuse_many_rows
from .._validation import check_types, to_generator, validate_choice, validate_integer
from ..errors import ArgumentError
from ..relations.search import DEPARTMENT_WORDS
from ..systems.search_engines import ALL_DEPARTMENTS, FEATURED, LANGUAGES

if TYPE_CHECKING:
    import pandas as pd


class ProductKind(NamedTuple):
    """A kind of product: its name in English, singular and plural, and in Chinese, and where it is sold."""

    singular: str
    plural: str
    chinese: str
    area: str  # "fashion", "sports", "beauty" or "travel"


def _list_product_kinds() -> tuple[ProductKind, ...]:
    """Return all kinds of products; a name without a plural form gets an "s"."""
    names = {
        "fashion": (
            "sweater 毛衣,shirt 衬衫,jacket 夹克,coat 大衣,belt 皮带,hat 帽子,sock 袜子,boot 靴子,shoe 鞋子,"
            "sandal 凉鞋,slipper 拖鞋,suit 西装,vest 马甲,hoodie 卫衣,pajama 睡衣,robe 浴袍,cardigan 开衫,"
            "blazer 西服外套,parka 派克大衣,raincoat 雨衣,tie 领带,loafer 乐福鞋,sneaker 运动鞋,cap 棒球帽,"
            "beanie 针织帽,polo 保罗衫,turtleneck 高领衫,pullover 套头衫,windbreaker 风衣,"
            "watch/watches 手表,scarf/scarves 围巾,glove 手套,jumpsuit 连体裤,kimono 和服,undershirt 背心,"
            "poncho 斗篷,mitten 连指手套"
        ),
        "sports": (
            "tracksuit 运动服,wetsuit 潜水服,helmet 头盔,bicycle 自行车,tent 帐篷,yoga mat 瑜伽垫,"
            "ski jacket 滑雪服,running shoe 跑步鞋,swimsuit 泳衣,goggle 泳镜,dumbbell 哑铃,"
            "hiking boot 登山靴,golf club 高尔夫球杆,tennis racket 网球拍,sleeping bag 睡袋,kneepad 护膝,"
            "skateboard 滑板,water bottle 水壶"
        ),
        "beauty": (
            "perfume 香水,razor 剃须刀,face cream 面霜,shampoo 洗发水,hair dryer 吹风机,deodorant 止汗露,"
            "hand cream 护手霜,lip balm 润唇膏,sunscreen 防晒霜,toothbrush/toothbrushes 牙刷,"
            "body lotion 身体乳,hairbrush/hairbrushes 梳子"
        ),
        "travel": (
            "backpack 背包,suitcase 行李箱,wallet 钱包,sunglasses/sunglasses 太阳镜,umbrella 雨伞,"
            "handbag 手提包,briefcase 公文包,bracelet 手链,necklace 项链,ring 戒指,keychain 钥匙扣,"
            "duffel bag 旅行包"
        ),
    }
    kinds = []
    for area, entries in names.items():
        for entry in entries.split(","):
            english, _, chinese = entry.rpartition(" ")
            singular, _, plural = english.partition("/")
            kinds.append(ProductKind(singular, plural or f"{singular}s", chinese, area))
    return tuple(kinds)


PRODUCT_KINDS = _list_product_kinds()
#: what goods are made of or like, in English with the Chinese word
MODIFIERS = {
    "wool": "羊毛",
    "cotton": "纯棉",
    "leather": "真皮",
    "winter": "冬季",
    "summer": "夏季",
    "black": "黑色",
    "white": "白色",
    "red": "红色",
    "casual": "休闲",
    "warm": "保暖",
    "waterproof": "防水",
    "lightweight": "轻便",
    "vintage": "复古",
    "slim": "修身",
    "luxury": "奢华",
    "cheap": "平价",
    "large": "大码",
    "travel": "旅行",
    "outdoor": "户外",
    "soft": "柔软",
}
BRANDS = {
    "en": (
        "Alder",
        "Brightway",
        "Cormorant",
        "Dunmore",
        "Everlast Co",
        "Fjord",
        "Glenhaven",
        "Hartley",
        "Islay",
        "Juniper",
    ),
    "zh": ("安踏云", "北极星", "晨曦", "大地", "峰林", "海澜屋", "锦绣", "蓝岸", "明月坊", "雅致"),
}
#: the departments for women and men, then those of the other areas
DEPARTMENTS = {
    "en": {
        "women": DEPARTMENT_WORDS["en"]["women"],
        "men": DEPARTMENT_WORDS["en"]["men"],
        "sports": "Sports & Outdoors",
        "beauty": "Beauty & Personal Care",
        "travel": "Luggage & Accessories",
    },
    "zh": {
        "women": DEPARTMENT_WORDS["zh"]["女士"],
        "men": DEPARTMENT_WORDS["zh"]["男士"],
        "sports": "运动户外",
        "beauty": "美妆个护",
        "travel": "箱包配饰",
    },
}
FOR_WOMEN, FOR_MEN, FOR_ALL = "women", "men", "all"
#: titles by audience; {noun} and {nouns} are the singular and the plural
TITLES = {
    "en": {
        FOR_WOMEN: (
            "{brand} Women's {modifier} {noun}",
            "{brand} {modifier} {nouns} for women",
            "{brand} Womens {noun}, {modifier}",
            "{modifier} {noun} for ladies by {brand}",
            "{brand} {modifier} {noun}",
            "Women's {nouns} - {modifier} - {brand}",
        ),
        FOR_MEN: (
            "{brand} Men's {modifier} {noun}",
            "{brand} {modifier} {nouns} for men",
            "{brand} Mens {noun}, {modifier}",
            "{modifier} {noun} for gentlemen by {brand}",
            "{brand} {modifier} {noun}",
            "Men's {nouns} - {modifier} - {brand}",
        ),
        FOR_ALL: (
            "{brand} {modifier} {noun}, unisex",
            "{brand} {modifier} {nouns} for men and women",
            "{modifier} {noun} by {brand}",
        ),
    },
    "zh": {
        FOR_WOMEN: (
            "{brand}女士{modifier}{noun}",
            "{brand}{modifier}{noun}女士",
            "{brand} {noun}女 {modifier}",
            "{brand}女士{noun} {modifier}",
            "{brand}{modifier}{noun}",
            "{modifier}{noun} 女款 {brand}",
            "{modifier}女士{noun} {brand}",
        ),
        FOR_MEN: (
            "{brand}男士{modifier}{noun}",
            "{brand}{modifier}{noun}男士",
            "{brand} {noun}男 {modifier}",
            "{brand}男士{noun} {modifier}",
            "{brand}{modifier}{noun}",
            "{modifier}{noun} 男款 {brand}",
            "{modifier}男士{noun} {brand}",
        ),
        FOR_ALL: ("{brand}{modifier}{noun} 男女通用", "{brand}{noun} 男士女士 {modifier}", "{modifier}{noun} {brand}"),
    },
}
DESCRIPTIONS = {
    "en": (
        "A {other} {noun} that you will wear for years.",
        "One of our best {nouns}: {other}, well made, and easy to care for.",
        "Made by {brand}. Free returns within 30 days.",
        "The {noun} is a popular gift for friends and family.",
    ),
    "zh": (
        "{other}{noun}，经久耐用。",
        "热销{noun}，{other}，做工精良，易于打理。",
        "{brand}出品，三十天无理由退货。",
        "送礼佳品，深受欢迎。",
    ),
}
#: in units of no particular currency
PRICE_RANGE = {"fashion": (12, 180), "sports": (9, 400), "beauty": (4, 90), "travel": (8, 250)}
AUDIENCE_SHARES = {
    "fashion": (0.42, 0.38, 0.2),
    "sports": (0.25, 0.25, 0.5),
    "beauty": (0.35, 0.25, 0.4),
    "travel": (0.3, 0.2, 0.5),
}


@check_types
def make_products(n: int = 20_000, language: str = "en", seed: int = 0) -> pd.DataFrame:
    """Make a catalogue of products, one per row.

    Parameters
    ----------
    n : int
        The number of products.
    language : {"en", "zh"}
        English or Chinese.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    DataFrame
        Columns ``id``, ``title``, ``description``, ``brand``, ``department``, ``price``: documents for `dm.SqliteSearch` and
        `dm.TantivySearch`.

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.data.make_products(3)["title"].tolist()
    ['Black backpack by Islay', 'Glenhaven wool tennis racket, unisex', 'Juniper wool bicycle, unisex']
    >>> dm.data.make_products(2, language="zh")["title"].tolist()
    ['防水背包 安踏云', '白色网球拍 安踏云']
    """
    import pandas as pd

    count = validate_integer("n", "make_products", n, low=1)
    refuse_many_rows("make_products", "n", count, 60)  # 500 bytes per product were measured
    validate_choice("language", "make_products", language, LANGUAGES)
    rng = to_generator("seed", "make_products", seed)
    kind_numbers = rng.integers(len(PRODUCT_KINDS), size=count)
    modifiers = rng.integers(len(MODIFIERS), size=(count, 2))
    brands = rng.integers(len(BRANDS[language]), size=count)
    draws = rng.random((count, 4))
    modifier_words = list(MODIFIERS if language == "en" else MODIFIERS.values())
    rows = []
    for row in range(count):
        kind = PRODUCT_KINDS[kind_numbers[row]]
        audience_draw, title_draw, description_draw, price_draw = draws[row]
        audience = _choose_audience(kind.area, audience_draw)
        modifier, other = (modifier_words[place] for place in modifiers[row])
        words = {
            "noun": kind.singular if language == "en" else kind.chinese,
            "nouns": kind.plural,
            "modifier": modifier,
            "other": other,
            "brand": BRANDS[language][brands[row]],
        }
        titles, descriptions = TITLES[language][audience], DESCRIPTIONS[language]
        title = titles[int(title_draw * len(titles))].format(**words)
        low, high = PRICE_RANGE[kind.area]
        rows.append(
            (
                f"P{row:06d}",
                title[:1].upper() + title[1:],
                descriptions[int(description_draw * len(descriptions))].format(**words),
                words["brand"],
                _choose_department(language, kind.area, audience, row),
                round(low * (high / low) ** price_draw, 2),
            )
        )
    return pd.DataFrame(rows, columns=["id", "title", "description", "brand", "department", "price"])


def _choose_audience(area: str, draw: float) -> str:
    women, men, _ = AUDIENCE_SHARES[area]
    if draw < women:
        return FOR_WOMEN
    return FOR_MEN if draw < women + men else FOR_ALL


def _choose_department(language: str, area: str, audience: str, row: int) -> str:
    """Return the department; fashion for everyone is sold in turn for women and for men."""
    if area != "fashion":
        return DEPARTMENTS[language][area]
    if audience == FOR_ALL:
        audience = (FOR_WOMEN, FOR_MEN)[row % 2]
    return DEPARTMENTS[language][audience]


def list_product_phrases(language: str = "en") -> list[str]:
    """Return what the queries look for: all goods, then all goods with a modifier.

    Examples
    --------
    >>> phrases = list_product_phrases()
    >>> phrases[0], phrases[-1], len(phrases)
    ('sweaters', 'soft duffel bags', 1659)
    """
    validate_choice("language", "list_product_phrases", language, LANGUAGES)
    if language == "en":
        return [kind.plural for kind in PRODUCT_KINDS] + [
            f"{word} {kind.plural}" for word in MODIFIERS for kind in PRODUCT_KINDS
        ]
    return [kind.chinese for kind in PRODUCT_KINDS] + [
        f"{word}{kind.chinese}" for word in MODIFIERS.values() for kind in PRODUCT_KINDS
    ]


@check_types
def make_product_queries(n: int = 100, language: str = "en", seed: int = 0) -> pd.DataFrame:
    """Make queries for goods for women and for men, as users write them.

    Half of them have the form "men's sweaters", the others the form "sweaters for men"; in Chinese "男士毛衣" and "毛衣男士". Plain
    goods come first, then goods with a modifier in random order.

    Parameters
    ----------
    n : int
        The number of queries, all different.
    language : {"en", "zh"}
        English or Chinese.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    DataFrame
        Cases of a search engine: ``query``, ``department`` ("All Departments") and ``sort`` ("Featured").

    Examples
    --------
    >>> import datamorphic as dm
    >>> dm.data.make_product_queries(4)["query"].tolist()
    ["women's sweaters", 'sweaters for men', 'shirts for women', "men's shirts"]
    >>> dm.data.make_product_queries(2, language="zh")["query"].tolist()
    ['女士毛衣', '毛衣男士']
    """
    import pandas as pd

    phrases = list_product_phrases(language)
    count = validate_integer("n", "make_product_queries", n, low=1)
    if count > 2 * len(phrases):
        raise ArgumentError(
            f"There are {2 * len(phrases):,} different queries at most. Give a smaller n than {count:,}."
        )
    rng = to_generator("seed", "make_product_queries", seed)
    order = [
        *range(len(PRODUCT_KINDS)),
        *(len(PRODUCT_KINDS) + rng.permutation(len(phrases) - len(PRODUCT_KINDS))).tolist(),
    ]
    queries = []
    for number in range(count):
        phrase = phrases[order[number // 2]]
        audience_first = (number // 2 + number) % 2 == 0  # both forms occur with both audiences
        audience = (FOR_WOMEN, FOR_MEN)[number % 2]
        queries.append(_write_query(phrase, audience, language, audience_first))
    return pd.DataFrame({"query": queries, "department": ALL_DEPARTMENTS, "sort": FEATURED})


def _write_query(phrase: str, audience: str, language: str, audience_first: bool) -> str:
    """Return a query for goods, with the audience first or last."""
    if language == "en":
        return f"{audience}'s {phrase}" if audience_first else f"{phrase} for {audience}"
    word = {"women": "女士", "men": "男士"}[audience]
    return f"{word}{phrase}" if audience_first else f"{phrase}{word}"
