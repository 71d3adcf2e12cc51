"""English questions that name no time, though their words could: nothing may be found in them."""

TRAPS = """
# versions, numbers, measures, addresses
Which version, 5.3.0 or 5.4.1?
Did I upgrade to Python 3.12.1?
What is the IP address 192.168.1.12?
Is release 2.10 out?
What was in section 4.5.2 of the contract?
What is my flight number, UA 1984?
What is the PIN 2021?
Which gate, B12 or C23?
Which size is 10/12?
Is 3/4 cup of sugar enough?
What was the score, 3-2 or 4-2?
Did we win 2-1?
How far is 1500 meters?
What did the 2000 dollars pay for?
How many of the 1999 copies were sold?
What is the number 12-34-56?
What is my locker combination 10-24-36?
Which apartment is 12-3?
What is my phone number, 555 0123?
What was order 20231105?
Which iPhone is better, the 12 or the 13?
What is 7 times 24?
Do I have a size 10 shoe?
Which bus, the 5 or the 12?
Where is gate 5 at terminal 2?
What is a 16:9 screen?
Which verse is John 3:16?
What does 50/50 mean?
What is a 401k?
Is route 66 scenic?
What did the 5.1 speakers cost?
Did I pass with 85/100?
How hot is 350 degrees for 20 minutes?

# durations and how often
How many days are there in a year?
How many days are there in the year?
How many hours are there in the day?
How many weeks in a month?
What is a 90 day trial?
How long is a 30-day return window?
How long does it take to drive 3 hours?
Does the 10 year warranty cover it?
Did I sleep eight hours?
How many minutes of exercise per day?
How often do I run, twice a week?
Do I get three weeks of vacation?
Which 5 minute recipe did I like?
Is a two week notice enough?
How old is my ten year old nephew?
What is the five second rule?
Which 4 hour workweek tips did I like?
How do I run a mile in seven minutes?
Can you boil an egg for six minutes?
Who paid for a year of Netflix?
Twice in a month of Sundays
What is a light year?
Which leap year joke did I like?
A day at the beach sounds nice
Who takes three days to answer?
What is my 5 year plan?

# names and titles
Did April call?
Who is April Ludgate?
Did May bring her cake?
Is May's sister coming?
What did June order?
Was Augustus or August the better name?
Does Jan still work there?
What does Mark say about Summer Smith?
Do I know Autumn from work?
Who wrote Monday Mornings?
Do I like Friday Night Lights?
Who sings "Sunday Bloody Sunday"?
Who wrote The Man Who Was Thursday?
Who plays Wednesday Addams?
Did I finish Saturday Night Fever?
Who wrote One Hundred Years of Solitude?
Have I seen The Day After Tomorrow?
Who is in Twelve Years a Slave?
Did I like 28 Days Later?
Have I read Nineteen Eighty-Four?
Have I seen 2001: A Space Odyssey?
Who directed 1917?
Is Blade Runner 2049 long?
Do I own Fallout 76?
Do I like Century 21?
Which song is "Yesterday"?
Do I read the Sunday Times?
Do we eat at TGI Fridays?
Do I drink Newcastle in the Winter Garden?
Where is the Spring Street station?
Who lives on May Street?
Did I join the March of Dimes?
Do I like Boyz II Men's End of the Road?
Do I like The Last Samurai?
Did I like the season finale?
Which is the best episode of season 3?
What did I think of the last season of Friends?
Who won the seasons award?
Who is the employee of the month?
What is the word of the day?
Who is the person of the year?
What was the book of the week?
What is the soup of the day?

# homographs and set phrases
May I borrow your pen?
What may I have forgotten?
Which army did they march with?
How do I march in place?
Did the vase fall?
Did the sun burn me?
Where have we sat down?
What is a second chance?
Who came second?
What is the second step of the plan?
Can you wait a second?
Just a minute please
What is the first rule of the club?
Who was the third person?
What do I do at night?
Do I prefer mornings?
Am I a morning person?
Which night light did I buy?
What is my morning routine?
What is a mid-century chair?
What is the present for mom?
What is my current job?
What is the latest news?
What is the past participle of go?
In the end, did we agree?
At the end of the day, who decides?
Is that the last one?
What was the last movie I saw?
Who was last in line?
What is next on my list?
What comes next?
What is the next step?
Did I win the day?
Who saved the day?
Is it day or night there?
What time is it in Tokyo?
What time zone am I in?
Is it about time?
Once upon a time there was a fox
One day I want to see Japan
What did you do later that day?
What happened the day before we left?
What did she do in her 20s?
Who is in his early thirties?
When does the start of the semester feel real?
Write a poem about my day
Who made my day?
Is my day job boring?
Wrap the title in <h2>
Which book did I finish in two weeks?
Can it be done within three days?
How long ago was my wedding?
How many years ago did we marry?
What is on page 6/1326?
What is the deadline for the quarter pounder?
Do I have a quarter for the machine?
What do I think of a winter coat?
What is a spring roll?
Where did I leave my spring jacket?
Do I like summer dresses?
Is the fall foliage tour booked?
Which Christmas cookies do I like?
Which Easter eggs are in the film?
Do I like Halloween candy?
Who is the new year baby?
Is the date palm watered?
How bright is the sun on Mars?
"""
