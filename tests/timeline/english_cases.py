"""English texts and the days that they name."""

# The moment is Wednesday 2024-06-12, 15:30.
ONE_RANGE = [
    # days
    ("What did I eat yesterday?", "2024-06-11", "2024-06-12"),
    ("What did we decide today?", "2024-06-12", "2024-06-13"),
    ("the day before yesterday", "2024-06-10", "2024-06-11"),
    ("What is planned for tomorrow?", "2024-06-13", "2024-06-14"),
    ("the day after tomorrow", "2024-06-14", "2024-06-15"),
    ("What happened on Monday?", "2024-06-10", "2024-06-11"),
    ("What happened on Wednesday?", "2024-06-12", "2024-06-13"),
    ("What happened on Friday?", "2024-06-07", "2024-06-08"),
    ("What did I tell you about the dentist last Tuesday?", "2024-06-11", "2024-06-12"),
    ("last Wednesday", "2024-06-05", "2024-06-06"),
    ("this past Sunday", "2024-06-09", "2024-06-10"),
    ("next Friday", "2024-06-14", "2024-06-15"),
    ("two Fridays ago", "2024-05-31", "2024-06-01"),
    ("Tuesday of last week", "2024-06-04", "2024-06-05"),
    ("last week on Thursday", "2024-06-06", "2024-06-07"),
    ("Where was I on the 3rd?", "2024-06-03", "2024-06-04"),
    ("Where was I on the 20th?", "2024-05-20", "2024-05-21"),
    ("the 5th of last month", "2024-05-05", "2024-05-06"),
    # units
    ("What did we talk about last week?", "2024-06-03", "2024-06-10"),
    ("this week", "2024-06-10", "2024-06-17"),
    ("next week", "2024-06-17", "2024-06-24"),
    ("the week before last", "2024-05-27", "2024-06-03"),
    ("this month", "2024-06-01", "2024-07-01"),
    ("last month", "2024-05-01", "2024-06-01"),
    ("the month before last", "2024-04-01", "2024-05-01"),
    ("last quarter", "2024-01-01", "2024-04-01"),
    ("this year", "2024-01-01", "2025-01-01"),
    ("last year", "2023-01-01", "2024-01-01"),
    ("What did I do over the weekend?", "2024-06-08", "2024-06-10"),
    ("last weekend", "2024-06-08", "2024-06-10"),
    ("the weekend before last", "2024-06-01", "2024-06-03"),
    # rolling and ago
    ("in the past three days", "2024-06-09", "2024-06-12T15:30"),
    ("the last 2 weeks", "2024-05-29T15:30", "2024-06-12T15:30"),
    ("over the past month", "2024-05-12T15:30", "2024-06-12T15:30"),
    ("three days ago", "2024-06-09", "2024-06-10"),
    ("5 hours ago", "2024-06-12T10:00", "2024-06-12T11:00"),
    ("two weeks ago", "2024-05-27", "2024-06-03"),
    ("a fortnight ago", "2024-05-27", "2024-06-03"),
    ("three months ago", "2024-03-01", "2024-04-01"),
    ("half a year ago", "2023-12-01", "2024-01-01"),
    ("two years ago", "2022-01-01", "2023-01-01"),
    ("a couple of days ago", "2024-06-09", "2024-06-12"),
    ("a few days ago", "2024-06-07", "2024-06-11"),
    ("several days ago", "2024-06-04", "2024-06-10"),
    # months, dates, feasts
    ("What did I buy in March?", "2024-03-01", "2024-04-01"),
    ("in October", "2023-10-01", "2023-11-01"),
    ("in May", "2024-05-01", "2024-06-01"),
    ("in June", "2024-06-01", "2024-07-01"),
    ("on May 5", "2024-05-05", "2024-05-06"),
    ("on the 5th of May", "2024-05-05", "2024-05-06"),
    ("on December 24th", "2023-12-24", "2023-12-25"),
    ("on Feb 29th", "2024-02-29", "2024-03-01"),
    ("last March", "2024-03-01", "2024-04-01"),
    ("March last year", "2023-03-01", "2023-04-01"),
    ("on Christmas", "2023-12-25", "2023-12-26"),
    ("last Thanksgiving", "2023-11-23", "2023-11-24"),
    ("on Valentine's Day", "2024-02-14", "2024-02-15"),
    ("Easter 2023", "2023-04-09", "2023-04-10"),
    ("August 30, 2019", "2019-08-30", "2019-08-31"),
    ("17 April, 2018", "2018-04-17", "2018-04-18"),
    ("on 2023-05-07", "2023-05-07", "2023-05-08"),
    ("on 5/7/2023", "2023-05-07", "2023-05-08"),
    ("on 14/02/2024", "2024-02-14", "2024-02-15"),
    ("April twenty second nineteen seventy nine", "1979-04-22", "1979-04-23"),
    ("in 2021", "2021-01-01", "2022-01-01"),
    ("the 90s", "1990-01-01", "2000-01-01"),
    ("the nineteen-eighties", "1980-01-01", "1990-01-01"),
    ("Q1 2023", "2023-01-01", "2023-04-01"),
    ("Q3 last year", "2023-07-01", "2023-10-01"),
    # seasons and parts
    ("last summer", "2023-06-01", "2023-09-01"),
    ("in the autumn of 2017", "2017-09-01", "2017-12-01"),
    ("last winter", "2023-12-01", "2024-03-01"),
    ("early March", "2024-03-01", "2024-03-11"),
    ("mid-November", "2023-11-11", "2023-11-21"),
    ("the end of last month", "2024-05-21", "2024-06-01"),
    ("at the beginning of 2023", "2023-01-01", "2023-05-01"),
    ("the first half of April 2020", "2020-04-01", "2020-04-16"),
    ("the first week of February", "2024-02-01", "2024-02-08"),
    ("the first Monday of March", "2024-03-04", "2024-03-05"),
    ("the last Friday of last month", "2024-05-31", "2024-06-01"),
    ("the week of February 5", "2024-02-05", "2024-02-12"),
    # beside something
    ("the week before the launch on June 5", "2024-05-27", "2024-06-03"),
    ("the day after my birthday on June 5", "2024-06-06", "2024-06-07"),
    ("two days before Christmas", "2023-12-23", "2023-12-24"),
    ("the Tuesday before March 14, 2019", "2019-03-12", "2019-03-13"),
    ("the night before Christmas", "2023-12-23T21:00", "2023-12-24T05:00"),
    # parts of the day
    ("this morning", "2024-06-12T05:00", "2024-06-12T12:00"),
    ("yesterday evening", "2024-06-11T17:00", "2024-06-11T21:00"),
    ("last night", "2024-06-11T18:00", "2024-06-12T05:00"),
    ("Monday afternoon", "2024-06-10T12:00", "2024-06-10T17:00"),
    ("the evening of 9 August, 2018", "2018-08-09T17:00", "2018-08-09T21:00"),
    ("yesterday at 3pm", "2024-06-11T15:00", "2024-06-11T16:00"),
    ("yesterday at 6:00", "2024-06-11T18:00", "2024-06-11T19:00"),
    ("yesterday at 06:00", "2024-06-11T06:00", "2024-06-11T07:00"),
    ("yesterday at 06:00 pm", "2024-06-11T18:00", "2024-06-11T19:00"),
    ("yesterday from 03:00 to 05:00", "2024-06-11T03:00", "2024-06-11T05:00"),
    ("yesterday from 03:00 to 05:00 pm", "2024-06-11T15:00", "2024-06-11T17:00"),
    ("yesterday from 2-5pm", "2024-06-11T14:00", "2024-06-11T17:00"),
    ("between 6 and 8:45 last night", "2024-06-11T18:00", "2024-06-11T20:45"),
    # two ends, or one
    ("between May and July 2023", "2023-05-01", "2023-08-01"),
    ("from March to May", "2024-03-01", "2024-06-01"),
    ("from Monday to Wednesday", "2024-06-10", "2024-06-13"),
    ("May 5 to 7", "2024-05-05", "2024-05-08"),
    ("since March", "2024-03-01", "2024-06-12T15:30"),
    ("since 2021", "2021-01-01", "2024-06-12T15:30"),
    ("before March", "..", "2024-03-01"),
    ("until yesterday", "..", "2024-06-12"),
    ("after April 2019", "2019-05-01", ".."),
    ("earlier this week", "2024-06-10", "2024-06-12T15:30"),
    # decades, short years, spoken amounts
    ("What music did we play in the late 90s?", "1996-01-01", "2000-01-01"),
    ("the mid-eighties", "1983-01-01", "1987-01-01"),
    ("in the early 2000s", "2000-01-01", "2004-01-01"),
    ("the 60's", "1960-01-01", "1970-01-01"),
    ("in the 19th century", "1800-01-01", "1900-01-01"),
    ("the summer of '69", "1969-06-01", "1969-09-01"),
    ("back in '99", "1999-01-01", "2000-01-01"),
    ("a hundred days ago", "2024-03-04", "2024-03-05"),
    ("a month and a half ago", "2024-04-27", "2024-04-28"),
    ("two or three weeks ago", "2024-05-20", "2024-06-03"),
    ("2-3 days ago", "2024-06-09", "2024-06-11"),
    ("a day or two ago", "2024-06-10", "2024-06-12"),
    ("1.5 hours ago", "2024-06-12T14:00", "2024-06-12T14:01"),
    ("in October two thousand and we returned", "2000-10-01", "2000-11-01"),
    ("two summers ago", "2022-06-01", "2022-09-01"),
    ("a year ago today", "2023-06-12", "2023-06-13"),
    ("on this day in 2020", "2020-06-12", "2020-06-13"),
    ("FY2022", "2022-01-01", "2023-01-01"),
    ("the last two quarters", "2023-10-01", "2024-04-01"),
    ("second quarter last year", "2023-04-01", "2023-07-01"),
    # present units, ends of units, words run together
    ("Show the sales in the year", "2024-01-01", "2025-01-01"),
    ("What did we spend in the week?", "2024-06-10", "2024-06-17"),
    ("What does my day look like?", "2024-06-12", "2024-06-13"),
    ("How was my week?", "2024-06-10", "2024-06-17"),
    ("I will visit Anna in two weeks", "2024-06-24", "2024-07-01"),
    ("I'll be back within 2 hours", "2024-06-12T15:30", "2024-06-12T17:30"),
    ("What did we do the week before?", "2024-06-03", "2024-06-10"),
    ("Where was I the night before?", "2024-06-11T18:00", "2024-06-12T05:00"),
    ("What did we sell in H2?", "2023-07-01", "2024-01-01"),
    ("What did I say not so long ago?", "2024-04-13T15:30", "2024-06-12T15:30"),
    ("Is it due by EOM?", "..", "2024-07-01"),
    ("the plan for the month at the EOY", "2024-12-01", "2025-01-01"),
    ("by end of day", "..", "2024-06-13"),
    ("What did I do lastweek?", "2024-06-03", "2024-06-10"),
    ("nextyear", "2025-01-01", "2026-01-01"),
    ("What did I do last season?", "2024-03-01", "2024-06-01"),
    ("the first of the month", "2024-06-01", "2024-06-02"),
    ("the last weekend of April", "2024-04-27", "2024-04-29"),
    ("in the latter half of May", "2024-05-16", "2024-06-01"),
    ("the 2nd Tuesday of May", "2024-05-14", "2024-05-15"),
    ("the last day of February", "2024-02-29", "2024-03-01"),
    ("the whole of May", "2024-05-01", "2024-06-01"),
    ("May of 2022", "2022-05-01", "2022-06-01"),
    # days of work
    ("this working week", "2024-06-10", "2024-06-15"),
    ("last work week", "2024-06-03", "2024-06-08"),
    ("the previous 4 business days", "2024-06-06", "2024-06-12"),
    ("3 business days ago", "2024-06-07", "2024-06-08"),
    # dates that only their neighbours make dates
    ("On 2016 10 16, it began", "2016-10-16", "2016-10-17"),
    ("I was back 23/12 before 5pm", "2023-12-23", "2023-12-23T17:00"),
    ("on 05.03.2021", "2021-03-05", "2021-03-06"),
    ("The office moved in two weeks since 2011", "2011-01-15", "2011-01-16"),
    ("the week beginning 5 May", "2024-05-05", "2024-05-12"),
    # more of hours and nights
    ("between 3pm and 5pm on Monday", "2024-06-10T15:00", "2024-06-10T17:00"),
    ("on the 5th from 2pm to 4pm", "2024-06-05T14:00", "2024-06-05T16:00"),
    ("at 3 o'clock yesterday", "2024-06-11T15:00", "2024-06-11T16:00"),
    ("early this morning", "2024-06-12T05:00", "2024-06-12T07:20"),
    ("on the evening of the 3rd", "2024-06-03T17:00", "2024-06-03T21:00"),
    # more of ends
    ("since my birthday on June 5", "2024-06-05", "2024-06-12T15:30"),
    ("Did we meet before the trip on May 3rd?", "..", "2024-05-03"),
    ("between Monday and now", "2024-06-10", "2024-06-12T15:30"),
    ("up until last week", "..", "2024-06-10"),
    ("March through May", "2024-03-01", "2024-06-01"),
    ("What did I say between Christmas and New Year's?", "2023-12-25", "2024-01-02"),
    # classes of forms that other projects' suites showed to be missing
    ("Who was there on Monday 8-9am?", "2024-06-10T08:00", "2024-06-10T09:00"),
    ("Where was I on Friday 2-4?", "2024-06-07T14:00", "2024-06-07T16:00"),
    ("the 20th of next month", "2024-07-20", "2024-07-21"),
    ("Mon-Fri last week", "2024-06-03", "2024-06-08"),
    ("first quarter 2015", "2015-01-01", "2015-04-01"),
    ("on the eve of Christmas", "2023-12-24", "2023-12-25"),
    ("Wed Oct 26 15:50:06 2016", "2016-10-26T15:50", "2016-10-26T15:51"),
    ("the upcoming weekend", "2024-06-15", "2024-06-17"),
    ("earlier this morning", "2024-06-12T05:00", "2024-06-12T12:00"),
    ("What did we eat late last night?", "2024-06-11T22:00", "2024-06-12T05:00"),
]

SEVERAL = [
    ("in June and in August", [("2024-06-01", "2024-07-01"), ("2023-08-01", "2023-09-01")]),
    ("in May and June 2022", [("2022-05-01", "2022-06-01"), ("2022-06-01", "2022-07-01")]),
    ("in July or September", [("2023-07-01", "2023-08-01"), ("2023-09-01", "2023-10-01")]),
    ("in February or October", [("2024-02-01", "2024-03-01"), ("2023-10-01", "2023-11-01")]),
    (
        "Monday, Tuesday and Friday last week",
        [("2024-06-03", "2024-06-04"), ("2024-06-04", "2024-06-05"), ("2024-06-07", "2024-06-08")],
    ),
    ("on Monday and on 3 May 2023", [("2024-06-10", "2024-06-11"), ("2023-05-03", "2023-05-04")]),
    ("before 2012 or after 2020", [("..", "2012-01-01"), ("2021-01-01", "..")]),
]

NO_TIME = """
May I ask you something?
This may be a problem
I may go there
march forward with the plan
Can I get a second opinion?
the second of three books
Did the leaves fall off the tree?
The fall of Rome
What did I say about the sun?
We sat down to talk
They wed in white
Have I read 1984?
What did I think of 1984 the novel?
Do I like Cyberpunk 2077?
What do I think of Blade Runner 2049?
What did April say about the trip?
Is June coming to the party?
Do you like August Wilson?
Does Summer like dogs?
What did Jan cook?
Tell me about the 10-minute workout
How many hours of sleep do I need?
How long did the movie last?
It takes two weeks to ship
I have a 5 year old son
Marathon in under 4 hours
What is my phone number 555-123-4567?
My room number is 1204
Which room is 5/12B?
a 7/10 rating
24/7 support
It costs $2000
in 2000 words
after 10,000 steps
What is on the third floor?
What is the first step?
What is my favorite season?
What is my favorite Christmas movie?
What was the last book I read?
the last straw
the next step
the past is gone
the past tense of go
last but not least
Which day care do we use?
good morning
What do I drink in the morning?
meal of the day
the best time of the year
at the end of the day it matters
one day I will travel
Who is the man of the hour?
the password 2023abc
100,000 years ago
What about "Last Friday Night"?
"""
