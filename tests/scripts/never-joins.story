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
00:20:00.018     9 supervisor/machines          withheld alpha, because replacements were held back, or released (supervisor/machines)
00:20:00.041    10 supervisor/machines          found, because the provider was asked about them, and has them (supervisor/machines)
00:20:00.041    11 supervisor/machines          issued to alpha: give up, released alpha, because the observed state requires it (supervisor/machines)
00:20:00.041    12 machine/alpha                given up, delete requested, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 11)
00:20:00.066    13 machine/alpha                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 12)
00:20:00.093    14 machine/alpha                created i-0005, join awaited until 00:40:00.093, because the provider reported success (executor, after 13)
00:20:05.032    15 supervisor/machines          observed appeared and vanished, because the list differs from the last one (supervisor/machines)
00:20:10.022    16 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:20:50.000    17 machine/alpha                node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
00:40:00.093    18 machine/alpha                became overdue until 00:40:00.093, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:40:00.093    19 supervisor/machines          withheld alpha, because replacements were held back, or released (supervisor/machines)
00:40:00.108    20 supervisor/machines          found, because the provider was asked about them, and has them (supervisor/machines)
00:40:00.108    21 supervisor/machines          issued to alpha: give up, released alpha, because the observed state requires it (supervisor/machines)
00:40:00.108    22 machine/alpha                given up, delete requested, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 21)
00:40:00.118    23 machine/alpha                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 22)
00:40:00.140    24 machine/alpha                created i-0008, join awaited until 01:00:00.140, because the provider reported success (executor, after 23)
00:40:05.025    25 supervisor/machines          observed appeared and vanished, because the list differs from the last one (supervisor/machines)
00:40:10.036    26 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:40:50.000    27 machine/alpha                node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
00:50:00.000    28 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
01:30:00.000     --- all providers behave from now on

converged after 5400.000 s: 28 entries, 1807 provider calls, 0 crashes, seed 33
  machine/alpha                    ready
journal 1cecf28ded43db3a1e4d93823258a5e4c9a5f72de6227727b9413aafcd235528
