00:00:00.000     1 node/journal                 writer opened (node)
00:00:00.000     2 policy/default               revised, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 5 declarations
00:00:00.000     3 node/requests                request done (operator)
00:00:00.000     4 machine/alpha                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/delta                declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.000     8 machine/epsilon              declared, create requested, because it was declared and has no instance yet (operator)
00:00:00.020     9 machine/alpha                created i-0006, join awaited until 00:20:00.020, because the provider reported success (executor, after 4)
00:00:00.020    10 machine/beta                 created i-0007, join awaited until 00:20:00.020, because the provider reported success (executor, after 5)
00:00:00.020    11 machine/delta                created i-0008, join awaited until 00:20:00.020, because the provider reported success (executor, after 7)
00:00:00.020    12 machine/epsilon              created i-0009, join awaited until 00:20:00.020, because the provider reported success (executor, after 8)
00:00:00.020    13 machine/gamma                created i-0010, join awaited until 00:20:00.020, because the provider reported success (executor, after 6)
00:00:00.025    14 supervisor/machines          observed 5 appeared, because the list differs from the last one (supervisor/machines)
00:00:10.000    15 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    16 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:00:10.000    17 machine/epsilon              node reported, became well, because the report differs from the last one (agent:machine/epsilon)
00:00:10.000    18 machine/delta                node reported, became well, because the report differs from the last one (agent:machine/delta)
00:00:10.000    19 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:05:00.000     --- the agent of alpha is silent for 1800.000 s
00:05:00.000     --- the agent of beta is silent for 1800.000 s
00:05:00.000     --- the agent of gamma is silent for 1800.000 s
00:05:35.000    20 machine/alpha                node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:05:35.000    21 machine/beta                 node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:05:35.000    22 machine/gamma                node went stale, became suspect until 00:15:35.000, because its agent was silent for longer than the policy allows (supervisor/machines)
00:06:00.000     --- the node is killed
00:06:00.000     --- crash (now)
00:06:00.000    23 node/journal                 writer opened (node)
00:15:35.000    24 machine/alpha                became overdue until 00:15:35.000, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    25 machine/beta                 became overdue until 00:15:35.000, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    26 machine/gamma                became overdue until 00:15:35.000, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    27 supervisor/machines          withheld alpha, withheld beta, withheld gamma, because replacements were held back, or released (supervisor/machines)
00:15:35.016    28 supervisor/machines          found, because the provider was asked about them, and has them (supervisor/machines)
00:15:35.016    29 supervisor/machines          issued to alpha: give up, released alpha, withheld beta, withheld gamma, because the observed state requires it (supervisor/machines)
00:15:35.016    30 machine/alpha                given up, delete requested, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 29)
00:15:35.052    31 machine/alpha                deleted, create requested, because the lost instance is cleaned up and can be replaced (executor, after 30)
00:15:35.059    32 machine/alpha                created i-0013, join awaited until 00:35:35.059, because the provider reported success (executor, after 31)
00:15:40.023    33 supervisor/machines          observed appeared and vanished, because the list differs from the last one (supervisor/machines)
00:15:45.033    34 supervisor/machines          observed forgotten, because the list differs from the last one (supervisor/machines)
00:16:25.000    35 machine/alpha                node went stale, because its agent was silent for longer than the policy allows (supervisor/machines)
00:35:00.000    36 machine/beta                 node reported, became well, because the report differs from the last one (agent:machine/beta)
00:35:00.000    37 supervisor/machines          released beta, because replacements were held back, or released (supervisor/machines)
00:35:00.000    38 machine/gamma                node reported, became well, because the report differs from the last one (agent:machine/gamma)
00:35:00.000    39 machine/alpha                node reported, became well, because the report differs from the last one (agent:machine/alpha)
00:35:00.000    40 supervisor/machines          released gamma, because replacements were held back, or released (supervisor/machines)
01:00:00.000     --- all providers behave from now on

converged after 3600.000 s: 40 entries, 1444 provider calls, 1 crashes, seed 32
  machine/alpha                    ready
  machine/beta                     ready
  machine/delta                    ready
  machine/epsilon                  ready
  machine/gamma                    ready
journal 692982427953b2bffcac37500520f4cad597c4f2b8bb63f485d255871a892e17
