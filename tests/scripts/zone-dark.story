00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- provider simulated begins to misbehave
00:00:00.000     --- provider simulated has the zones a, b, c
00:00:00.000     --- an operator applies 9 declarations
00:00:00.000     3 node/requests                answered a request with 9 commands (operator)
00:00:00.000     4 machine/m-0                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/m-1                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/m-2                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/m-3                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     8 machine/m-4                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     9 machine/m-5                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000    10 machine/m-6                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000    11 machine/m-7                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000    12 machine/m-8                  declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.027    13 supervisor/machines          provider simulated reported zone a, zone b, zone c, because the provider's zones changed (supervisor/machines)
00:00:00.038    14 machine/m-0                  provider created instance i-0010; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 4)
00:00:00.038    15 machine/m-1                  provider created instance i-0011; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 5)
00:00:00.038    16 machine/m-2                  provider created instance i-0012; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 6)
00:00:00.038    17 machine/m-3                  provider created instance i-0013; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 7)
00:00:00.038    18 machine/m-4                  provider created instance i-0014; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 8)
00:00:00.038    19 machine/m-5                  provider created instance i-0015; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 9)
00:00:00.038    20 machine/m-6                  provider created instance i-0016; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 10)
00:00:00.038    21 machine/m-7                  provider created instance i-0017; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 11)
00:00:00.038    22 machine/m-8                  provider created instance i-0018; has until 00:20:00.038 to become healthy, because the provider reported success (executor, after 12)
00:00:05.015    23 supervisor/machines          provider simulated reported: 9 changes, because the list differs from the last one (supervisor/machines)
00:00:10.000    24 machine/m-1                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-1)
00:00:10.000    25 machine/m-4                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-4)
00:00:10.000    26 machine/m-3                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-3)
00:00:10.000    27 machine/m-7                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-7)
00:00:10.000    28 machine/m-0                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-0)
00:00:10.000    29 machine/m-6                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-6)
00:00:10.000    30 machine/m-8                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-8)
00:00:10.000    31 machine/m-2                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-2)
00:00:10.000    32 machine/m-5                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-5)
00:05:00.000     --- zone b is silent for 4200.000 s
00:05:35.000    33 machine/m-1                  no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:05:35.000    34 machine/m-4                  no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:05:35.000    35 machine/m-7                  no health report since 00:04:50.000; its health reports stopped; it will be given up at 00:15:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:10:00.000     --- the agent of m-0 is silent for 720.000 s
00:10:35.000    36 machine/m-0                  no health report since 00:09:50.000; its health reports stopped; it will be given up at 00:20:35.000 unless it recovers, because there was no health report for longer than the policy allows (supervisor/machines)
00:15:35.000    37 machine/m-1                  its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    38 machine/m-4                  its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    39 machine/m-7                  its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:15:35.000    40 supervisor/machines          did not replace machine/m-1: all machines in zone b are silent; did not replace machine/m-4: all machines in zone b are silent; did not replace machine/m-7: all machines in zone b are silent, because replacements were held back, or released (supervisor/machines)
00:20:00.000     --- the node is killed
00:20:00.000     --- crash (now)
00:20:00.000    41 node/journal                 opened the journal after an unclean stop (start 2) (node)
00:20:35.000    42 machine/m-0                  its time ran out: its health reports stopped, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:20:35.000    43 supervisor/machines          did not replace machine/m-0: asking provider simulated about its instance, because replacements were held back, or released (supervisor/machines)
00:20:35.016    44 supervisor/machines          provider simulated still has the instance of machine/m-0, because the provider was asked about these instances, and still has them (supervisor/machines)
00:20:35.016    45 supervisor/machines          ordered machine/m-0: give up its instance and replace it; machine/m-0 may be replaced again, because the observed state requires it (supervisor/machines)
00:20:35.016    46 machine/m-0                  gave up the instance: its health reports stopped; requested the deletion of its instance, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 45)
00:20:35.028    47 machine/m-0                  provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 46)
00:20:35.047    48 supervisor/machines          provider simulated reported: an instance is still present after its deletion, because the list differs from the last one (supervisor/machines)
00:20:35.069    49 machine/m-0                  provider created instance i-0021; has until 00:40:35.069 to become healthy, because the provider reported success (executor, after 47)
00:20:40.036    50 supervisor/machines          provider simulated reported: new instance i-0021 of machine/m-0, instance of machine/m-0 missing, because the list differs from the last one (supervisor/machines)
00:20:45.035    51 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:21:25.000    52 machine/m-0                  no health report since 00:20:35.069, because there was no health report for longer than the policy allows (supervisor/machines)
00:22:00.000    53 machine/m-0                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-0)
00:40:00.000     --- the node loses power
00:40:00.000     --- crash (now)
00:40:00.000    54 node/journal                 opened the journal after an unclean stop (start 3) (node)
01:15:00.000    55 machine/m-1                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-1)
01:15:00.000    56 machine/m-4                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-4)
01:15:00.000    57 supervisor/machines          ordered machine/m-7: allow more time to become healthy; machine/m-1 may be replaced again; machine/m-4 may be replaced again; machine/m-7 may be replaced again, because the observed state requires it (supervisor/machines)
01:15:00.000    58 machine/m-7                  agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/m-7)
01:15:00.000    59 machine/m-7                  no change: allow more time to become healthy, because it recovered (supervisor/machines, after 57)
02:00:00.000     --- all providers behave from now on

converged after 7200.000 s: 59 entries, 2164 provider calls, 2 crashes, seed 35
  machine/m-0                      ready
  machine/m-1                      ready
  machine/m-2                      ready
  machine/m-3                      ready
  machine/m-4                      ready
  machine/m-5                      ready
  machine/m-6                      ready
  machine/m-7                      ready
  machine/m-8                      ready
journal 6cab265a7d914b2c4793e15e571acc8b797bb69b115672f7b41ba98cfed611f5
