00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 1 declaration
00:00:00.000     3 node/requests                answered a request with 1 command (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     --- the agent of alpha is silent for 3000.000 s
00:00:00.018     5 machine/alpha                provider created instance i-0002; has until 00:20:00.018 to become healthy, because the provider reported success (executor, after 4)
00:00:00.033     6 supervisor/machines          provider simulated reported: new instance i-0002 of machine/alpha, because the list differs from the last one (supervisor/machines)
00:01:05.000     7 machine/alpha                no health report since 00:00:00.018, because there was no health report for longer than the policy allows (supervisor/machines)
00:20:00.018     8 machine/alpha                its time ran out: it has not become healthy, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:20:00.018     9 supervisor/machines          did not replace machine/alpha: asking provider simulated about its instance, because replacements were held back, or released (supervisor/machines)
00:20:00.041    10 supervisor/machines          provider simulated still has the instance of machine/alpha, because the provider was asked about these instances, and still has them (supervisor/machines)
00:20:00.041    11 supervisor/machines          ordered machine/alpha: give up its instance and replace it; machine/alpha may be replaced again, because the observed state requires it (supervisor/machines)
00:20:00.041    12 machine/alpha                gave up the instance: it has not become healthy; requested the deletion of its instance, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 11)
00:20:00.066    13 machine/alpha                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 12)
00:20:00.093    14 machine/alpha                provider created instance i-0005; has until 00:40:00.093 to become healthy, because the provider reported success (executor, after 13)
00:20:05.032    15 supervisor/machines          provider simulated reported: new instance i-0005 of machine/alpha, instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:20:10.022    16 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:20:50.000    17 machine/alpha                no health report since 00:20:00.093, because there was no health report for longer than the policy allows (supervisor/machines)
00:40:00.093    18 machine/alpha                its time ran out: it has not become healthy, because it did not become healthy in time, and its supervisor decides what happens next (schedule)
00:40:00.093    19 supervisor/machines          did not replace machine/alpha: asking provider simulated about its instance, because replacements were held back, or released (supervisor/machines)
00:40:00.108    20 supervisor/machines          provider simulated still has the instance of machine/alpha, because the provider was asked about these instances, and still has them (supervisor/machines)
00:40:00.108    21 supervisor/machines          ordered machine/alpha: give up its instance and replace it; machine/alpha may be replaced again, because the observed state requires it (supervisor/machines)
00:40:00.108    22 machine/alpha                gave up the instance: it has not become healthy; requested the deletion of its instance, because it did not become healthy in time and the replacement budget allows it (supervisor/machines, after 21)
00:40:00.118    23 machine/alpha                provider deleted the instance; requested a new instance, because the lost instance is cleaned up and can be replaced (executor, after 22)
00:40:00.140    24 machine/alpha                provider created instance i-0008; has until 01:00:00.140 to become healthy, because the provider reported success (executor, after 23)
00:40:05.025    25 supervisor/machines          provider simulated reported: new instance i-0008 of machine/alpha, instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:40:10.036    26 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:40:50.000    27 machine/alpha                no health report since 00:40:00.140, because there was no health report for longer than the policy allows (supervisor/machines)
00:50:00.000    28 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
01:30:00.000     --- all providers behave from now on

converged after 5400.000 s: 28 entries, 1807 provider calls, 0 crashes, seed 33
  machine/alpha                    ready
journal a5267fe456b8b54e9e8ac6d84084b1c6d634b1fd54bb24c321e3b97e6ec4672b
