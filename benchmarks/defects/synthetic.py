"""Tables that look like those of real users: named columns, noise, curved effects, missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd

ROWS = 4_000


def _choose(rng: np.random.Generator, shares: dict[str, float], rows: int) -> np.ndarray:
    weights = np.array(list(shares.values()))
    return rng.choice(np.array(list(shares), dtype=object), rows, p=weights / weights.sum())


def _look_up(values: np.ndarray, effects: dict[str, float]) -> np.ndarray:
    return np.array([effects[value] for value in values])


def _hide(rng: np.random.Generator, values: np.ndarray, share: float) -> np.ndarray:
    return np.where(rng.random(len(values)) < share, np.nan, values)


def _draw_label(rng: np.random.Generator, log_odds: np.ndarray, labels: tuple[str, str] = ("no", "yes")) -> np.ndarray:
    return np.where(rng.random(len(log_odds)) < 1 / (1 + np.exp(-log_odds)), labels[1], labels[0]).astype(object)


def make_rides(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Return taxi rides with their duration in minutes."""
    rng = np.random.default_rng([seed, 1])
    pickup = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 366 * 24 * 60, rows)), unit="min")
    hour, month, weekday = pickup.hour.to_numpy(), pickup.month.to_numpy(), pickup.day_of_week.to_numpy()
    zone = _choose(rng, {"centre": 30, "north": 20, "south": 18, "suburb": 14, "harbour": 9, "airport": 9}, rows)
    distance = np.clip(rng.lognormal(1.5, 0.6, rows), 0.6, 40) + np.where(zone == "airport", 8, 0)
    temperature = 11 - 10 * np.cos((month - 1) / 12 * 2 * np.pi) + rng.normal(0, 4, rows)
    wet = rng.random(rows) < 0.25
    weather = np.where(wet & (temperature < 3), "snow", np.where(wet, "rain", "dry")).astype(object)
    rush = ((hour >= 7) & (hour <= 9) | (hour >= 16) & (hour <= 18)) & (weekday < 5)
    speeds = {"centre": 19, "north": 28, "south": 27, "suburb": 38, "harbour": 24, "airport": 46}
    speed = _look_up(zone, speeds) * np.where(rush, 0.5, np.where((hour < 6) | (hour > 21), 1.3, 1.0))
    speed = speed * _look_up(weather, {"dry": 1.0, "rain": 0.85, "snow": 0.6})
    duration = (3 + 60 * distance / speed) * rng.lognormal(0, 0.1, rows)
    return pd.DataFrame(
        {
            "pickup": pickup,
            "distance_km": distance.round(2),
            "zone": zone,
            "weather": weather,
            "temperature_c": _hide(rng, temperature.round(1), 0.08),
            "passengers": rng.choice([1, 1, 1, 2, 2, 3, 4], rows),
            "driver_years": rng.integers(0, 30, rows),
            "duration_min": duration.round(1),
        }
    )


def make_houses(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Return houses with the price that they were sold for."""
    rng = np.random.default_rng([seed, 2])
    levels = {"altstadt": 5_200, "docks": 4_300, "hill": 3_900, "mills": 2_500, "park": 3_400, "station": 2_900}
    levels["fields"] = 2_000
    district = _choose(rng, dict.fromkeys(sorted(levels), 1), rows)
    area = np.clip(rng.lognormal(4.7, 0.38, rows), 28, 420).round()
    lot = np.clip(area * rng.lognormal(0.9, 0.6, rows), 40, 4_000).round()
    year = np.clip(2024 - rng.gamma(2.2, 18, rows), 1880, 2024).astype(int)
    energy = np.clip((2024 - year) / 18 + rng.normal(0, 1.2, rows), 0, 6).astype(int)
    sold = pd.Timestamp("2019-01-01") + pd.to_timedelta(rng.integers(0, 6 * 365, rows), unit="D")
    years = (sold - pd.Timestamp("2019-01-01")).days.to_numpy() / 365
    price = area**0.92 * _look_up(district, levels) * 1.45 + 55 * lot + 14_000 * rng.integers(0, 2, rows)
    price = price * (1 + 0.05 * years) * (1 - 0.035 * energy) * rng.lognormal(0, 0.1, rows)
    return pd.DataFrame(
        {
            "sold": sold,
            "district": district,
            "living_area_m2": area,
            "lot_area_m2": _hide(rng, lot, 0.15),
            "rooms": np.clip((area / 26 + rng.normal(0, 0.9, rows)).round(), 1, 14).astype(int),
            "year_built": year,
            "energy_class": np.array(list("ABCDEFG"), dtype=object)[energy],
            "bathrooms": np.clip((area / 90 + rng.normal(0.3, 0.5, rows)).round(), 1, 5).astype(int),
            "price": price.round(-2),
        }
    )


def make_loans(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Return applications for loans, and who did not pay back."""
    rng = np.random.default_rng([seed, 3])
    country = _choose(rng, {"DE": 34, "FR": 26, "SE": 16, "CH": 12, "PL": 12}, rows)
    employment = _choose(rng, {"employed": 58, "self-employed": 16, "retired": 12, "student": 7, "unemployed": 7}, rows)
    purpose = _choose(rng, {"car": 32, "home": 26, "education": 12, "debts": 20, "travel": 10}, rows)
    age = np.clip(rng.normal(41, 13, rows), 18, 80).astype(int)
    age = np.where(employment == "retired", np.clip(age + 24, 60, 84), age)
    income = rng.lognormal(10.35, 0.45, rows) * _look_up(
        employment, {"employed": 1.1, "self-employed": 1.15, "retired": 0.75, "student": 0.4, "unemployed": 0.4}
    )
    amount = np.clip(rng.lognormal(9.3, 0.65, rows), 1_000, 80_000)
    term = rng.choice([12, 24, 36, 48, 60, 72], rows)
    late = rng.poisson(0.7, rows)
    score = np.clip(rng.normal(640, 80, rows) - 22 * late, 350, 850)
    burden = amount / term * 12 / income
    log_odds = -4.1 + 5.2 * np.minimum(burden, 1.2) + 0.75 * late - 0.013 * (score - 620)
    log_odds += _look_up(
        employment, {"employed": 0, "self-employed": 0.9, "retired": -0.9, "student": 0.6, "unemployed": 2.2}
    )
    log_odds += _look_up(purpose, {"car": 0, "home": -1.3, "education": -0.4, "debts": 1.6, "travel": 0.5})
    applied = pd.Timestamp("2021-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 4 * 365, rows)), unit="D")
    return pd.DataFrame(
        {
            "applied": applied,
            "age": age,
            "country": country,
            "currency": _look_up_text(country, {"DE": "EUR", "FR": "EUR", "SE": "SEK", "CH": "CHF", "PL": "PLN"}),
            "employment": employment,
            "income": income.round(),
            "amount": amount.round(-2),
            "term_months": term,
            "purpose": purpose,
            "late_payments": late,
            "credit_score": _hide(rng, score.round(), 0.12),
            "defaulted": _draw_label(rng, log_odds),
        }
    )


def _look_up_text(values: np.ndarray, texts: dict[str, str]) -> np.ndarray:
    return np.array([texts[value] for value in values], dtype=object)


def make_patients(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Return patients of five hospitals, and how severe their complication was."""
    rng = np.random.default_rng([seed, 4])
    site = _choose(rng, {"A": 30, "B": 25, "C": 20, "D": 15, "E": 10}, rows)
    sex = _choose(rng, {"female": 52, "male": 48}, rows)
    age = np.clip(rng.normal(58, 17, rows), 18, 96).astype(int)
    height = rng.normal(np.where(sex == "male", 178, 165), 7)
    bmi = rng.lognormal(3.28, 0.19, rows)
    glucose = np.clip(rng.lognormal(1.8, 0.28, rows), 3.0, 24)
    creatinine = np.clip(rng.lognormal(4.42, 0.33, rows), 35, 600)
    systolic = rng.normal(118 + 0.3 * (age - 40), 15)
    smoker = _choose(rng, {"never": 55, "former": 27, "current": 18}, rows)
    rate = np.clip(rng.normal(78, 12, rows), 42, 150)
    temperature = np.clip(rng.normal(37.1, 0.75, rows), 35.2, 40.8)
    risk = 0.045 * (age - 58) + 0.11 * (bmi - 27) + 0.5 * (glucose - 6.3) + 0.02 * (creatinine - 85)
    risk += _look_up(smoker, {"never": -0.4, "former": 0.3, "current": 1.3}) + 0.9 * (temperature - 37.1)
    risk += 0.03 * (rate - 78) + rng.normal(0, 0.9, rows)
    outcome = np.select([risk > 3.6, risk > 0.7], ["severe", "mild"], "none").astype(object)
    return pd.DataFrame(
        {
            "admitted": pd.Timestamp("2023-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 730, rows)), unit="D"),
            "site": site,
            "age": age,
            "sex": sex,
            "height_cm": height.round(),
            "weight_kg": (bmi * (height / 100) ** 2).round(1),
            "glucose_mmol": glucose.round(1),
            "creatinine_umol": _hide(rng, creatinine.round(), 0.2),
            "systolic": systolic.round(),
            "heart_rate": rate.round(),
            "temperature_c": temperature.round(1),
            "smoker": smoker,
            "outcome": outcome,
        }
    )


PHRASES = (
    "please ring the bell",
    "leave at the door",
    "a present",
    "thank you",
    "call before delivery",
    "for my sister",
)


def make_orders(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Return orders of a shop, and which were sent back."""
    rng = np.random.default_rng([seed, 5])
    categories = np.array(["shoes", "dresses", "shirts", "bags", "jewellery", "sports", "books", "toys"], dtype=object)
    product = rng.integers(0, 120, rows)
    of_product = rng.integers(0, len(categories), 120)
    taste = rng.normal(0, 0.7, 120)
    category = categories[of_product[product]]
    price = (rng.lognormal(3.6, 0.4, 120)[product] * rng.normal(1, 0.05, rows)).clip(4)
    discount = rng.choice([0, 0, 0, 10, 20, 30, 50], rows)
    ordered = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 730 * 24 * 60, rows)), unit="min")
    days = np.clip(rng.gamma(2.5, 1.6, rows), 1, 20).round().astype(int)
    customer_age = np.clip(rng.normal(38, 13, rows), 16, 85).astype(int)
    effects = {"shoes": 1.1, "dresses": 1.7, "shirts": 0.5, "bags": -0.3, "jewellery": -0.6, "sports": 0, "toys": -1.2}
    log_odds = -2.1 + _look_up(category, effects | {"books": -2.2}) + 0.3 * (days - 4) + taste[product]
    log_odds += 0.03 * (price - 40) - 0.02 * discount - 0.035 * (customer_age - 38)
    log_odds += np.where(ordered.month.isin([1, 12]), 1.6, 0.0)
    comment = np.where(rng.random(rows) < 0.35, "", rng.choice(np.array(PHRASES, dtype=object), rows))
    return pd.DataFrame(
        {
            "ordered": ordered,
            "product_code": np.char.add("P-", (1_000 + 7 * product).astype(str)).astype(object),
            "category": category,
            "price": price.round(2),
            "discount_pct": discount,
            "quantity": rng.choice([1, 1, 1, 1, 2, 2, 3], rows),
            "country": _choose(rng, {"DE": 40, "AT": 25, "NL": 20, "BE": 15}, rows),
            "payment": _choose(rng, {"card": 50, "invoice": 30, "wallet": 20}, rows),
            "delivery_days": days,
            "customer_age": customer_age,
            "comment": comment.astype(object),
            "returned": _draw_label(rng, log_odds),
        }
    )


def make_machines(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Return shifts of milling machines, and which ended with a failure."""
    rng = np.random.default_rng([seed, 6])
    tool = _choose(rng, {"drill": 40, "mill": 30, "lathe": 20, "saw": 10}, rows)
    plant = _choose(rng, {"Brno": 45, "Graz": 35, "Linz": 20}, rows)
    rpm = np.clip(rng.normal(1_540, 180, rows), 1_100, 2_800).round()
    torque = np.clip(rng.normal(40, 10, rows) - 0.02 * (rpm - 1_540), 4, 80).round(1)
    air = rng.normal(24, 4, rows)
    process = air + 10 + rng.normal(0, 1.6, rows)
    wear = rng.integers(0, 250, rows)
    vibration = rng.lognormal(0.4, 0.35, rows)
    log_odds = -3.6 + 0.022 * (wear - 125) + 0.09 * (torque - 40) + 0.12 * (process - 34) + 1.3 * (vibration - 1.5)
    log_odds += _look_up(tool, {"drill": 0, "mill": 0.8, "lathe": -0.8, "saw": 1.9})
    started = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 700 * 24, rows)), unit="h")
    log_odds += np.where((started.hour >= 22) | (started.hour < 6), 1.2, 0.0)
    return pd.DataFrame(
        {
            "started": started,
            "plant": plant,
            "tool": tool,
            "rpm": rpm,
            "torque_nm": torque,
            "air_temperature_c": air.round(1),
            "process_temperature_c": _hide(rng, process.round(1), 0.06),
            "wear_min": wear,
            "vibration_mm": vibration.round(2),
            "failed": _draw_label(rng, log_odds),
        }
    )
