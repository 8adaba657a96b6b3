00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 1 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     --- the agent of alpha is silent for 3000.000 s
00:00:00.018     5 machine/alpha                created i-0002, join awaited until 00:20:00.018, because the provider reported success (executor, after 4)
00:00:00.033     6 supervisor/machines          observed appeared, because the list differs from the last one (supervisor/machines)
00:01:05.000     7 machine/alpha                node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
00:20:00.018     8 machine/alpha                became overdue until 00:20:00.018, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:20:00.018     9 supervisor/machines          issued to alpha: give up, because the observed state requires it (supervisor/machines)
00:20:00.018    10 machine/alpha                given up, delete requested, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 9)
00:20:00.041    11 machine/alpha                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 10)
00:20:00.060    12 machine/alpha                created i-0005, join awaited until 00:40:00.060, because the provider reported success (executor, after 11)
00:20:05.027    13 supervisor/machines          observed appeared and vanished, because the list differs from the last one (supervisor/machines)
00:20:10.019    14 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:20:50.000    15 machine/alpha                node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
00:40:00.060    16 machine/alpha                became overdue until 00:40:00.060, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:40:00.060    17 supervisor/machines          issued to alpha: give up, because the observed state requires it (supervisor/machines)
00:40:00.060    18 machine/alpha                given up, delete requested, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 17)
00:40:00.104    19 machine/alpha                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 18)
00:40:00.112    20 machine/alpha                created i-0008, join awaited until 01:00:00.112, because the provider reported success (executor, after 19)
00:40:05.035    21 supervisor/machines          observed appeared and vanished, because the list differs from the last one (supervisor/machines)
00:40:10.030    22 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:40:50.000    23 machine/alpha                node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
00:50:00.000    24 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
01:30:00.000     --- all providers behave from now on

converged after 5400.000 s: 24 entries, 1805 provider calls, 0 crashes, seed 33
  machine/alpha                    ready
journal 05ca51ca5577f12245df9a16167f1373f8c3333339e0e1a972b0abbf9aa3bb9b
