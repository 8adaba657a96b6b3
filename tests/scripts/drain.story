00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 6 declarations
00:00:00.000     3 node/requests                answered a request with 8 commands (operator)
00:00:00.000     4 policy/default               settings changed, because the settings differ from those in force (operator)
00:00:00.000     5 machine/alpha                declared with provider simulated, 1 workload; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/beta                 declared with provider simulated, 1 workload; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 machine/gamma                declared with provider simulated, 1 workload; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     8 volume/data                  declared with 64M from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     9 machine/alpha                reserved an attachment for volume data, because a volume will be attached to it (operator)
00:00:00.000    10 volume/data                  reserved for machine alpha, because it will be attached to a machine (operator)
00:00:00.000    11 volume-attachment/alpha:data declared, because it was declared and waits for its machine and storage (operator)
00:00:00.023    12 supervisor/machines          provider simulated reported: new instance i-0005 of machine/alpha, new instance i-0007 of machine/gamma, new instance i-0006 of machine/beta, because the list differs from the last one (supervisor/machines)
00:00:00.023    13 machine/alpha                provider created instance i-0005; has until 00:20:00.023 to become healthy, because the provider reported success (executor, after 5)
00:00:00.023    14 machine/beta                 provider created instance i-0006; has until 00:20:00.023 to become healthy, because the provider reported success (executor, after 6)
00:00:00.023    15 machine/gamma                provider created instance i-0007; has until 00:20:00.023 to become healthy, because the provider reported success (executor, after 7)
00:00:00.030    16 volume/data                  provider created volume v-0008 of 64M, because the provider reported success (executor, after 8)
00:00:00.030    17 supervisor/storage           ordered volume-attachment/alpha:data: attach volume v-0008 to instance i-0005, because the observed state requires it (supervisor/storage)
00:00:00.030    18 volume-attachment/alpha:data requested attachment to instance i-0005, because its machine and storage are ready (supervisor/storage, after 17)
00:00:00.044    19 volume-attachment/alpha:data provider attached it at /volumes/data, because the provider reported success (executor, after 18)
00:00:10.000    20 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    21 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    22 supervisor/storage           agents reported: volume data is device sim-8fa516fc on machine alpha, because the devices of machines changed (supervisor/storage)
00:00:10.000    23 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:05:00.000     --- what runs on beta no longer stops
00:05:00.000     --- what runs on gamma no longer stops
00:06:00.000     --- an operator removes machine/alpha
00:06:00.000    24 node/requests                answered a request with 1 command (operator)
00:06:00.000    25 machine/alpha                removal started; drain started: workloads must stop by 00:16:00.000, because its removal was requested, and its workloads stop first (operator)
00:06:00.000     --- an operator removes machine/beta
00:06:00.000    26 node/requests                answered a request with 1 command (operator)
00:06:00.000    27 machine/beta                 removal started; drain started: workloads must stop by 00:16:00.000, because its removal was requested, and its workloads stop first (operator)
00:06:00.000     --- an operator removes machine/gamma
00:06:00.000    28 node/requests                answered a request with 1 command (operator)
00:06:00.000    29 machine/gamma                removal started; drain started: workloads must stop by 00:16:00.000, because its removal was requested, and its workloads stop first (operator)
00:06:20.000    30 machine/alpha                drained: all workloads stopped, because all its workloads stopped (agent:machine/alpha)
00:06:20.000    31 supervisor/storage           ordered volume-attachment/alpha:data: remove, because the observed state requires it (supervisor/storage)
00:06:20.000    32 volume-attachment/alpha:data removal started; requested detachment, because its removal was requested (supervisor/storage, after 31)
00:06:20.045    33 volume-attachment/alpha:data provider detached it; removed, because the provider reported success and its removal was requested (executor, after 32)
00:06:20.045    34 supervisor/storage           ordered machine/alpha: no longer reserve an attachment for volume data; ordered volume/data: no longer reserve for machine alpha, because the observed state requires it (supervisor/storage)
00:06:20.045    35 volume/data                  no longer reserved for machine alpha, because its attachment there is gone (supervisor/storage, after 34)
00:06:20.045    36 machine/alpha                no longer reserves an attachment for volume data; nothing depends on it any more; requested the deletion of its instance, because nothing depends on it any more (supervisor/storage, after 34)
00:06:20.074    37 machine/alpha                provider deleted the instance; removed, because the provider confirmed that its instance is gone (executor, after 36)
00:06:25.010    38 supervisor/machines          provider simulated reported: instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:06:30.028    39 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:07:00.000     --- the agent of gamma is silent for 3600.000 s
00:07:35.000    40 machine/gamma                no health report since 00:06:50.000; drain ended: the agent does not say whether workloads are running; nothing depends on it any more; requested the deletion of its instance, because there was no health report for longer than the policy allows (supervisor/machines)
00:07:35.010    41 supervisor/machines          provider simulated reported: instance of machine/gamma missing, because the list differs from the last one (supervisor/machines)
00:07:35.012    42 machine/gamma                provider deleted the instance; removed, because the provider confirmed that its instance is gone (executor, after 40)
00:07:40.017    43 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
00:08:00.000     --- the node loses power
00:08:00.000     --- crash (now)
00:08:00.000    44 node/journal                 opened the journal after an unclean stop (start 2) (node)
00:16:00.000    45 machine/beta                 drain timed out: workloads are still running; nothing depends on it any more; requested the deletion of its instance, because its workloads did not stop in time (schedule)
00:16:00.027    46 machine/beta                 provider deleted the instance; removed, because the provider confirmed that its instance is gone (executor, after 45)
00:16:00.029    47 supervisor/machines          provider simulated reported: an instance is still present after its deletion, because the list differs from the last one (supervisor/machines)
00:16:05.023    48 supervisor/machines          provider simulated reported: instance of machine/beta missing, because the list differs from the last one (supervisor/machines)
00:16:10.027    49 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)
01:30:00.000     --- all providers behave from now on

converged after 5400.000 s: 49 entries, 1807 provider calls, 1 crashes, seed 41
  machine/alpha                    removed
  machine/beta                     removed
  machine/gamma                    removed
  volume-attachment/alpha:data     removed
  volume/data                      available
journal d5ee669c205fc85e7eaf2d4845134621672d71682884537309ef133160264067
