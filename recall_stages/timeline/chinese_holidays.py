"""The feasts that Chinese speakers name, each with the function that finds its day in a year."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from recall_stages.timeline import calendar_math as cal
from recall_stages.timeline.cycles import holiday
from recall_stages.timeline.grammar import Table

Finder = Callable[[int], datetime]

_FIRST_LUNAR_YEAR = 1970
# Feasts of the lunar calendar, in days after 1 January, for the years 1970 to 2050. The lunar
# calendar follows observations of the moon, so a table is the honest form.
_SPRING = (
    "36 26 45 33 22 41 30 48 37 27 46 35 24 43 32 50 39 28 47 36 26 45 34 22 40 30 49 37 27 "
    "46 35 23 42 31 21 39 28 48 37 25 44 33 22 40 30 49 38 27 46 35 24 42 31 21 40 28 47 36 "
    "25 43 33 22 41 30 49 38 27 45 34 23 42 31 21 40 29 47 36 25 44 32 22"
)
_DRAGON_BOAT = (
    "158 147 166 155 174 164 153 171 160 149 168 156 175 165 155 172 161 150 169 158 147 166 "
    "156 174 163 152 171 159 149 168 157 175 165 154 173 161 150 169 159 147 166 156 174 162 "
    "152 170 160 149 168 157 176 164 153 172 161 150 169 159 148 166 155 174 163 151 170 160 "
    "150 168 157 146 165 153 172 161 151 169 158 148 166 154 173"
)
_DOUBLE_SEVENTH = (
    "219 238 227 216 235 224 214 232 221 240 229 217 236 226 215 233 223 241 230 219 237 227 "
    "217 235 224 213 232 220 239 228 218 236 226 215 234 222 211 230 219 237 227 217 235 224 "
    "213 231 221 239 228 218 237 225 215 233 222 240 230 219 238 227 216 235 224 212 231 221 "
    "240 228 218 237 226 214 233 222 212 230 219 238 228 216 234"
)
_MID_AUTUMN = (
    "257 275 265 253 272 262 251 269 258 277 266 254 273 263 253 271 260 279 268 256 275 264 "
    "254 272 262 251 270 258 277 266 255 273 263 253 271 260 278 267 257 275 264 254 273 261 "
    "250 269 258 276 266 255 274 263 252 271 260 278 267 257 276 264 254 273 262 250 269 258 "
    "277 266 255 274 263 252 270 259 278 267 257 276 265 253 272"
)


def _lunar(table: str, later: int = 0) -> Finder:
    days = tuple(map(int, table.split()))

    def find(year: int) -> datetime:
        place = year - _FIRST_LUNAR_YEAR
        if not 0 <= place < len(days):
            msg = f"the lunar calendar of {year} is not in the table"
            raise ValueError(msg)
        return cal.day_of(year, 1, 1) + cal.DAY * (days[place] + later)

    return find


def _fixed(month: int, day: int) -> Finder:
    return lambda year: cal.day_of(year, month, day)


def _nth(month: int, weekday: int, count: int) -> Finder:
    return lambda year: cal.nth_weekday(year, month, weekday, count)


def _qingming(year: int) -> datetime:
    """The solar term Clear and Bright: 4 or 5 April in this and the last century."""
    in_century = year % 100
    value = 4.81 if year >= 2000 else 5.59
    return cal.day_of(year, 4, int(in_century * 0.2422 + value) - in_century // 4)


_FINDERS: dict[str, Finder] = {
    "元旦": _fixed(1, 1),
    "情人节": _fixed(2, 14),
    "妇女节|三八节": _fixed(3, 8),
    "愚人节": _fixed(4, 1),
    "清明节|清明": _qingming,
    "劳动节|五一|五一节": _fixed(5, 1),
    "青年节|五四青年节": _fixed(5, 4),
    "儿童节|六一|六一儿童节": _fixed(6, 1),
    "教师节": _fixed(9, 10),
    "国庆节|国庆|十一国庆|十一长假|十一假期": _fixed(10, 1),
    "双十一|光棍节": _fixed(11, 11),
    "双十二": _fixed(12, 12),
    "万圣节": _fixed(10, 31),
    "平安夜": _fixed(12, 24),
    "圣诞节|圣诞": _fixed(12, 25),
    "母亲节": _nth(5, 6, 2),
    "父亲节": _nth(6, 6, 3),
    "感恩节": _nth(11, 3, 4),
    "除夕|年三十|大年三十": _lunar(_SPRING, later=-1),
    "春节|大年初一|正月初一": _lunar(_SPRING),
    "元宵节|元宵": _lunar(_SPRING, later=14),
    "端午节|端午": _lunar(_DRAGON_BOAT),
    "七夕|七夕节": _lunar(_DOUBLE_SEVENTH),
    "中秋节|中秋": _lunar(_MID_AUTUMN),
}

HOLIDAYS: Table = {pattern: holiday(finder) for pattern, finder in _FINDERS.items()}
