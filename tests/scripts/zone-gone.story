00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 3 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.020     7 supervisor/machines          observed 3 appeared, because the list differs from the last one (supervisor/machines)
00:00:00.027     8 machine/alpha                created i-0004, join awaited until 00:20:00.027, because the provider reported success (executor, after 4)
00:00:00.027     9 machine/beta                 created i-0005, join awaited until 00:20:00.027, because the provider reported success (executor, after 5)
00:00:00.027    10 machine/gamma                created i-0006, join awaited until 00:20:00.027, because the provider reported success (executor, after 6)
00:00:10.000    11 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    12 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    13 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:05:00.000     --- the instance of alpha vanishes
00:05:00.000     --- the instance of beta vanishes
00:05:00.000     --- the instance of gamma vanishes
00:05:00.030    14 supervisor/machines          observed 3 vanished, withheld alpha, withheld beta, withheld gamma, because the list differs from the last one (supervisor/machines)
00:05:35.000    15 machine/alpha                node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:05:35.000    16 machine/beta                 node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:05:35.000    17 machine/gamma                node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:15:35.000    18 machine/alpha                became overdue until 00:15:35.000, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    19 machine/beta                 became overdue until 00:15:35.000, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    20 machine/gamma                became overdue until 00:15:35.000, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
01:00:00.000     --- an operator has everything tried again that was given up
01:00:00.000    21 node/requests                request done (operator)
01:00:00.000    22 machine/alpha                given up, delete requested, because an operator requested a retry (operator)
01:00:00.000    23 machine/beta                 given up, delete requested, because an operator requested a retry (operator)
01:00:00.000    24 machine/gamma                given up, delete requested, because an operator requested a retry (operator)
01:00:00.000    25 supervisor/machines          released alpha, released beta, released gamma, because replacements were held back, or released (supervisor/machines)
01:00:00.019    26 machine/alpha                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 22)
01:00:00.019    27 machine/beta                 deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 23)
01:00:00.019    28 machine/gamma                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 24)
01:00:00.023    29 supervisor/machines          observed 3 forgotten, because the list differs from the last one (supervisor/machines)
01:00:00.043    30 machine/alpha                created i-0013, join awaited until 01:20:00.043, because the provider reported success (executor, after 26)
01:00:00.043    31 machine/beta                 created i-0014, join awaited until 01:20:00.043, because the provider reported success (executor, after 27)
01:00:00.043    32 machine/gamma                created i-0015, join awaited until 01:20:00.043, because the provider reported success (executor, after 28)
01:00:05.022    33 supervisor/machines          observed 3 appeared, because the list differs from the last one (supervisor/machines)
01:00:10.000    34 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
01:00:10.000    35 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
01:00:10.000    36 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
02:00:00.000     --- an operator has everything tried again that was given up
03:00:00.000     --- all providers behave from now on

converged after 10800.000 s: 36 entries, 2883 provider calls, 0 crashes, seed 34
  machine/alpha                    ready
  machine/beta                     ready
  machine/gamma                    ready
journal 13d5a696f1993f641af7923120aee46527a5b62a8a3188414c2525664eac8af8
