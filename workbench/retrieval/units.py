"""Units of measurement by all their names, what they measure, and how they convert."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

# What is measured, then one unit a line: how many of the first one it is, and its names. Case tells mM
# (concentration) from mm and MB from Mb.
_TABLE = """
share
1 % percent pct Prozent procent パーセント
points
1 pp points point Prozentpunkte Prozentpunkten 个百分点 百分点 ポイント
time
1 s sec secs second seconds Sekunde Sekunden seconde secondes 秒
0.000000001 ns nanosecond nanoseconds
0.000001 µs μs us microsecond microseconds
0.001 ms msec millisecond milliseconds Millisekunden millisecondes ミリ秒 毫秒
60 min mins minute minutes Minuten 分钟 分間
3600 h hr hrs hour hours Stunde Stunden heure heures 小时 時間
86400 d day days Tag Tage Tagen jour jours 天 日間
604800 week weeks Woche Wochen semaine semaines 周 週間
months
1 month months Monat Monate Monaten mois 个月 か月 ヶ月
12 year years yr yrs Jahr Jahre Jahren an ans 年間
bits
1 bit bits
bytes
1 B byte bytes octets
1000 kB KB kilobyte kilobytes
1000000 MB megabyte megabytes
1000000000 GB gigabyte gigabytes
1000000000000 TB terabyte terabytes
1024 KiB
1048576 MiB
1073741824 GiB
frequency
1 Hz hertz
1000 kHz
1000000 MHz
1000000000 GHz
mass
1 g gram grams Gramm gramme grammes 克
0.000000000001 pg
0.000000001 ng
0.000001 µg μg ug
0.001 mg 毫克
1000 kg kilogram kilograms Kilogramm 千克 公斤
volume
1 l L litre litres liter liters 升 リットル
0.000001 µl µL μl μL ul uL
0.001 ml mL 毫升
length
1 m metre metres meter meters 米 メートル
0.000000001 nm
0.000001 µm μm um
0.001 mm 毫米
0.01 cm 厘米
1000 km 公里 千米
concentration
1 M
0.000000000001 pM
0.000000001 nM
0.000001 µM μM uM
0.001 mM
temperature
1 °C
kelvin
1 K kelvin
bases
1 bp
1000 kb kbp
1000000 Mb Mbp
weight of molecules
1 Da
1000 kDa
voltage
1 V
0.001 mV
power
1 W watt watts
1000 kW
1000000 MW
energy of power
1 Wh
1000 kWh
energy
1 J
1000 kJ
multiple
1 fold times x X × fach fois 倍
$
1 dollar dollars USD 美元 ドル
€
1 euro euros EUR Euro 欧元 ユーロ
£
1 pound pounds GBP
¥
1 yen yuan 元 円 RMB
"""


@dataclass(frozen=True, slots=True)
class Unit:
    """``name`` is its first name, ``factor`` how many of the base unit of ``measure`` it is."""

    name: str
    measure: str
    factor: Decimal


def _read(table: str) -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    measure = ""
    for line in table.strip().splitlines():
        if not line[0].isdigit():
            measure = line
            continue
        factor, *names = line.split()
        first = measure if measure in "$€£¥" else names[0]
        units |= {name: Unit(first, measure, Decimal(factor)) for name in names}
    return units


UNITS = _read(_TABLE)
CURRENCIES = {sign: Unit(sign, sign, Decimal(1)) for sign in "$€£¥"}

_UNSPACED = sorted((n for n in UNITS if re.match("[\u3040-\u9fff]", n)), key=len, reverse=True)
UNSPACED_NAMES = "|".join(_UNSPACED)
"""A pattern of the names in scripts without spaces."""

_LONG_NAMES = (
    (re.compile(r"per ?cent(?:age)?[ -]points?|points? de pourcentage", re.IGNORECASE), "pp"),
    (re.compile(r"per cent|pour cent", re.IGNORECASE), "%"),
)


def unit_named(word: str) -> Unit | None:
    """The unit of a name as it stands behind a figure; of long names case does not matter."""
    return CURRENCIES.get(word) or UNITS.get(word) or (UNITS.get(word.lower()) if len(word) > 2 else None)


def with_short_names(text: str) -> str:
    """``text`` with "percentage points" and "per cent" as signs, at their places and of their length."""
    for pattern, sign in _LONG_NAMES:
        text = pattern.sub(lambda m, sign=sign: sign.ljust(len(m.group())), text)  # type: ignore[misc]
    return text
