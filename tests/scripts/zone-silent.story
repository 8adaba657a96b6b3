00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 3 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.019     7 machine/alpha                created i-0004, join awaited until 00:20:00.019, because the provider has made its instance (executor, after 4)
00:00:00.019     8 machine/beta                 created i-0005, join awaited until 00:20:00.019, because the provider has made its instance (executor, after 5)
00:00:00.019     9 machine/gamma                created i-0006, join awaited until 00:20:00.019, because the provider has made its instance (executor, after 6)
00:00:05.021    10 supervisor/machines          observed appeared and appeared and appeared, because the world differs from what was seen last (supervisor/machines, after 9)
00:00:10.000    11 machine/gamma                node reported, became well, because its agent reports what was not known (agent:machine/gamma)
00:00:10.000    12 machine/alpha                node reported, became well, because its agent reports what was not known (agent:machine/alpha)
00:00:10.000    13 machine/beta                 node reported, became well, because its agent reports what was not known (agent:machine/beta)
00:05:00.000     --- the agent of alpha is silent for 3600.000 s
00:05:00.000     --- the agent of beta is silent for 7200.000 s
00:05:00.000     --- the agent of gamma is silent for 7200.000 s
00:05:35.000    14 machine/alpha                node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:05:35.000    15 machine/beta                 node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:05:35.000    16 machine/gamma                node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:15:35.000    17 machine/alpha                became overdue, because it was not well in time, so a supervisor decides what becomes of it (schedule)
00:15:35.000    18 machine/beta                 became overdue, because it was not well in time, so a supervisor decides what becomes of it (schedule)
00:15:35.000    19 machine/gamma                became overdue, because it was not well in time, so a supervisor decides what becomes of it (schedule)
00:15:35.000    20 supervisor/machines          withheld alpha, withheld beta, withheld gamma, because machines that should be replaced are not, or are not held any more (supervisor/machines, after 19)
01:05:00.000    21 machine/alpha                node reported, became well, because its agent reports what was not known (agent:machine/alpha)
01:05:00.000    22 supervisor/machines          issued to beta: give up, released alpha, released beta, withheld gamma, because something follows from what is seen (supervisor/machines, after 21)
01:05:00.000    23 machine/beta                 given up, delete requested, because it was not well in time and there is room to replace it (supervisor/machines, after 22)
01:05:00.031    24 machine/beta                 deleted, create requested, because the remains of the lost instance are gone, so another one is made (executor, after 23)
01:05:00.072    25 machine/beta                 created i-0009, join awaited until 01:25:00.072, because the provider has made its instance (executor, after 24)
01:05:05.031    26 supervisor/machines          observed appeared and vanished, because the world differs from what was seen last (supervisor/machines, after 25)
01:05:10.037    27 supervisor/machines          observed forgotten, because the world differs from what was seen last (supervisor/machines, after 26)
01:05:50.000    28 machine/beta                 node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
01:25:00.072    29 machine/beta                 became overdue, because it was not well in time, so a supervisor decides what becomes of it (schedule)
01:25:00.072    30 supervisor/machines          issued to gamma: give up, released gamma, withheld beta, because something follows from what is seen (supervisor/machines, after 29)
01:25:00.072    31 machine/gamma                given up, delete requested, because it was not well in time and there is room to replace it (supervisor/machines, after 30)
01:25:00.101    32 machine/gamma                deleted, create requested, because the remains of the lost instance are gone, so another one is made (executor, after 31)
01:25:00.138    33 machine/gamma                created i-0012, join awaited until 01:45:00.138, because the provider has made its instance (executor, after 32)
01:25:05.027    34 supervisor/machines          observed appeared and vanished, because the world differs from what was seen last (supervisor/machines, after 33)
01:25:10.027    35 supervisor/machines          observed forgotten, because the world differs from what was seen last (supervisor/machines, after 34)
01:25:50.000    36 machine/gamma                node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
01:45:00.138    37 machine/gamma                became overdue, because it was not well in time, so a supervisor decides what becomes of it (schedule)
01:45:00.138    38 supervisor/machines          issued to beta: give up, released beta, withheld gamma, because something follows from what is seen (supervisor/machines, after 37)
01:45:00.138    39 machine/beta                 given up, delete requested, because it was not well in time and there is room to replace it (supervisor/machines, after 38)
01:45:00.164    40 machine/beta                 deleted, create requested, because the remains of the lost instance are gone, so another one is made (executor, after 39)
01:45:00.176    41 machine/beta                 created i-0015, join awaited until 02:05:00.176, because the provider has made its instance (executor, after 40)
01:45:05.015    42 supervisor/machines          observed appeared and vanished, because the world differs from what was seen last (supervisor/machines, after 41)
01:45:10.042    43 supervisor/machines          observed forgotten, because the world differs from what was seen last (supervisor/machines, after 42)
01:45:50.000    44 machine/beta                 node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
02:05:00.000    45 machine/beta                 node reported, became well, because its agent reports what was not known (agent:machine/beta)
02:05:00.000    46 supervisor/machines          issued to gamma: give up, released gamma, because something follows from what is seen (supervisor/machines, after 45)
02:05:00.000    47 machine/gamma                node reported, became well, because its agent reports what was not known (agent:machine/gamma)
02:05:00.000    48 machine/gamma                left alone, because it is not about to be given up any more (supervisor/machines, after 46)
03:00:00.000     --- all providers behave from now on

converged after 10830.000 s: 48 entries, 2173 provider calls, 0 crashes, seed 31
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
journal 5e08a7aa4e56370fd3044b0d828463d1c906de54bacaa3b41b833db0959ebc5b
