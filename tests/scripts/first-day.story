00:00:00.000     1 node/journal                 created the journal (node)
00:00:00.000     2 policy/default               settings changed, because the settings differ from those in force (node)
00:00:00.000     --- an operator applies 7 declarations
00:00:00.000     3 node/requests                answered a request with 11 commands (operator)
00:00:00.000     4 machine/alpha                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     5 machine/beta                 declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     6 machine/gamma                declared with provider simulated, 0 workloads; requested a new instance, because it was declared and has no instance yet (operator)
00:00:00.000     7 volume/data                  declared with 64M from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     8 volume/logs                  declared with 1G from provider simulated; asked the provider to create it, because it was declared and has no storage yet (operator)
00:00:00.000     9 machine/alpha                reserved an attachment for volume data, because a volume will be attached to it (operator)
00:00:00.000    10 volume/data                  reserved for machine alpha, because it will be attached to a machine (operator)
00:00:00.000    11 volume-attachment/alpha:data declared, because it was declared and waits for its machine and storage (operator)
00:00:00.000    12 machine/beta                 reserved an attachment for volume logs, because a volume will be attached to it (operator)
00:00:00.000    13 volume/logs                  reserved for machine beta, because it will be attached to a machine (operator)
00:00:00.000    14 volume-attachment/beta:logs  declared, because it was declared and waits for its machine and storage (operator)
00:00:00.021    15 volume/data                  provider created volume v-0006 of 64M, because the provider reported success (executor, after 7)
00:00:00.021    16 volume/logs                  provider created volume v-0007 of 1G, because the provider reported success (executor, after 8)
00:00:00.030    17 machine/alpha                provider created instance i-0008; has until 00:20:00.030 to become healthy, because the provider reported success (executor, after 4)
00:00:00.030    18 machine/beta                 provider created instance i-0009; has until 00:20:00.030 to become healthy, because the provider reported success (executor, after 5)
00:00:00.030    19 machine/gamma                provider created instance i-0010; has until 00:20:00.030 to become healthy, because the provider reported success (executor, after 6)
00:00:00.030    20 supervisor/storage           ordered volume-attachment/alpha:data: attach volume v-0006 to instance i-0008; ordered volume-attachment/beta:logs: attach volume v-0007 to instance i-0009, because the observed state requires it (supervisor/storage)
00:00:00.030    21 volume-attachment/beta:logs  requested attachment to instance i-0009, because its machine and storage are ready (supervisor/storage, after 20)
00:00:00.030    22 volume-attachment/alpha:data requested attachment to instance i-0008, because its machine and storage are ready (supervisor/storage, after 20)
00:00:00.043    23 volume-attachment/alpha:data provider attached it at /volumes/data, because the provider reported success (executor, after 22)
00:00:00.043    24 volume-attachment/beta:logs  provider attached it at /volumes/logs, because the provider reported success (executor, after 21)
00:00:05.031    25 supervisor/machines          provider simulated reported: new instance i-0008 of machine/alpha, new instance i-0010 of machine/gamma, new instance i-0009 of machine/beta, because the list differs from the last one (supervisor/machines)
00:00:10.000    26 machine/alpha                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/alpha)
00:00:10.000    27 machine/gamma                agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/gamma)
00:00:10.000    28 supervisor/storage           agents reported: volume data is device sim-1fe89fab on machine alpha, because the devices of machines changed (supervisor/storage)
00:00:10.000    29 machine/beta                 agent reported: DiskPressure healthy (changed); became healthy, because the report differs from the last one (agent:machine/beta)
00:00:10.000    30 supervisor/storage           agents reported: volume logs is device sim-125c953d on machine beta, because the devices of machines changed (supervisor/storage)
00:01:00.000     --- an operator removes machine/alpha
00:01:00.000    31 node/requests                answered a request with 1 command (operator)
00:01:00.000    32 machine/alpha                removal started, because its removal was requested and waits for its attachments (operator)
00:01:00.000    33 supervisor/storage           ordered volume-attachment/alpha:data: remove, because the observed state requires it (supervisor/storage)
00:01:00.000    34 volume-attachment/alpha:data removal started; requested detachment, because its removal was requested (supervisor/storage, after 33)
00:01:00.043    35 volume-attachment/alpha:data provider detached it; removed, because the provider reported success and its removal was requested (executor, after 34)
00:01:00.043    36 supervisor/storage           ordered machine/alpha: no longer reserve an attachment for volume data; ordered volume/data: no longer reserve for machine alpha, because the observed state requires it (supervisor/storage)
00:01:00.043    37 machine/alpha                no longer reserves an attachment for volume data; nothing depends on it any more; requested the deletion of its instance, because nothing depends on it any more (supervisor/storage, after 36)
00:01:00.043    38 volume/data                  no longer reserved for machine alpha, because its attachment there is gone (supervisor/storage, after 36)
00:01:00.064    39 machine/alpha                provider deleted the instance; removed, because the provider confirmed that its instance is gone (executor, after 37)
00:01:05.028    40 supervisor/machines          provider simulated reported: instance of machine/alpha missing, because the list differs from the last one (supervisor/machines)
00:01:10.015    41 supervisor/machines          provider simulated reported: a missing instance was dropped, because the list differs from the last one (supervisor/machines)

converged after 61.000 s: 41 entries, 125 provider calls, 0 crashes, seed 1
  machine/alpha                    removed
  machine/beta                     ready
  machine/gamma                    ready
  volume-attachment/alpha:data     removed
  volume-attachment/beta:logs      attached
  volume/data                      available
  volume/logs                      reserved
journal 867069c6bf5cd571355775f874a51105354ddd314edd16ddc2adc6c5f21ce827
