/* limits.h: every cap of the program, with its reason. A size that a client,
 * a child or a guest chooses meets one of these before it is used.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CONF_LIMITS_H
#define CONF_LIMITS_H

#define KIB 1024u
#define MIB 1048576u

/* ---- defaults of a call, and the range an operator may choose ---- */

#define WALL_MS_DEFAULT     30000u    /* most clients give up at 60 s */
#define WALL_MS_MIN         10u       /* below it no program can print a line */
#define WALL_MS_MAX         86400000u /* a day: longer is a mistake */
#define MAX_WALL_MS_DEFAULT 300000u   /* the longest a client may ask for */

#define OUTPUT_CHARS_DEFAULT 50000u   /* about what one client shows a model */
#define OUTPUT_CHARS_MIN     100u     /* room for the mark of a cut */
#define OUTPUT_CHARS_MAX     1000000u /* 6 bytes each are mapped a stream */

#define MEMORY_BYTES_DEFAULT (512ull * MIB)  /* beyond the snapshot */
#define MEMORY_BYTES_MIN     (16ull * MIB)   /* a traceback needs some */
#define MEMORY_BYTES_MAX     (3072ull * MIB) /* wasm32 ends at 4 GiB */

#define FILES_BYTES_DEFAULT (256ull * MIB)
#define FILES_BYTES_MIN     (1ull * MIB)
#define FILES_BYTES_MAX     (4096ull * MIB)
#define FILES_COUNT_DEFAULT 10000u /* entries: more is a bomb, not work */

#define CONCURRENCY_DEFAULT 16u /* memory bounds it, not the cores */
#define CONCURRENCY_MIN     1u
#define CONCURRENCY_MAX     256u
/* Of a worker in a room of the host's kind: one processor, and threads of
 * libraries beside the program's own. */
#define CPUS_MILLI_DEFAULT 1000u
#define CPUS_MILLI_MIN     10u
#define CPUS_MILLI_MAX     256000u
#define PROCESSES_DEFAULT  128u
#define PROCESSES_MIN      2u /* the program, and who looks after it */
#define PROCESSES_MAX      4096u
#define QUEUE_DEFAULT      64u
#define QUEUE_MIN          1u /* 0 would read as "no limit" to some */
#define QUEUE_MAX          10000u

/* ---- patience of the commands that make a single call ---- */

#define ROOM_START_MS 30000u /* a start takes 10 ms, from a slow disk seconds */

/* ---- bench ---- */

#define BENCH_CALLS_MAX      100u /* of a program in a room: a p99 of sorts */
#define BENCH_CALLS_MIN      5u   /* however long they take */
#define BENCH_SERIES_US      2000000u /* of the calls of one program */
#define BENCH_PAUSE_MS       10u      /* between two calls */
#define BENCH_PAUSE_MS_MAX   2000u    /* for rooms that take long to refill */
#define BENCH_WAITED_US      2000u    /* for a child: the pause was too short */
#define PROCESSES_LOOKED_MAX 65536u   /* of /proc, 24 bytes each */

/* ---- bytes from a client ---- */

#define CODE_MAX           (2u * MIB)  /* a source text; longer ones are data */
#define STDIN_MAX          (8u * MIB)  /* what input() may read in one call */
#define FILES_IN_MAX       100u        /* given to a call */
#define FILES_IN_BYTES     (16u * MIB) /* more is a mount's, not a message's */
#define CALL_OPTIONS_MAX   (64u * KIB) /* of a call, towards the room's Python */
#define LINE_MAX_BYTES     (16u * MIB) /* one message of the stdio protocol */
#define MESSAGE_OUT_MAX    (900u * 1000u) /* clients refuse results of 1 MB */
#define JSON_DEPTH_MAX     64             /* deeper is never a call of ours */
#define JSON_VALUES_MAX    100000u /* a value costs up to 200 bytes parsed */
#define ID_BYTES_MAX       1024u   /* of a request id or a progress token */
#define NAME_SHOWN_MAX     64u  /* of a client's name, repeated in an error */
#define BATCH_MAX          100u /* requests of one batch */
#define LISTEN_MAX         16u  /* open subscriptions of one client */
#define LISTEN_URIS_MAX    100u /* resources that one of them names */
#define CALLS_BYTES_MAX    (128u * MIB) /* sources and inputs held for calls */
#define CALLS_BYTES_OF_ONE (64u * MIB)  /* of them, for one principal's */
#define CALL_BUCKETS       20u /* of the histogram: 0.5 ms to 4 min, and all */

/* ---- bytes and times towards a client ---- */

#define OUT_QUEUED_MAX    (4u * MIB)   /* unread beyond it: no more requests */
#define OUT_LOST_MAX      (256u * MIB) /* so far behind, a client is gone */
#define RETRY_BUSY_S      1u    /* for a call without a place: most are short */
#define TOOL_TEXT_MAX     2000u /* clients cut a description at 2 kB */
#define ABOUT_MAX         (256u * KIB) /* about.json: names and versions */
#define LIST_TTL_MS       3600000 /* the tool list never changes in a process */
#define PROGRESS_FIRST_MS 2000u   /* shorter calls need no sign of life */
#define PROGRESS_EVERY_MS 5000u   /* well under any client's idle time-out */
#define OUTPUT_PEEK_MS    100u    /* between two looks at a running call's */
#define OUTPUT_PEEK_MAX   (64u * KIB) /* bytes of a stream, of one look */
#define PROGRESS_TEXT_MS  250u        /* between two that carry output */
#define PROGRESS_TEXT_MAX 8000u /* bytes of one: 2,000 characters or more */
#define END_GRACE_MS      1000u /* after the end of input, for running calls */
#define END_FLUSH_MS      500u  /* then, for a client that still reads */

/* ---- HTTP: a request ---- */

#define HTTP_TARGET_MAX        (16u * KIB)  /* a path of ours has 60 bytes */
#define HTTP_HEAD_MAX          (16u * KIB)  /* names and values together */
#define HTTP_HEADERS_MAX       100u         /* clients send 10 to 20 */
#define HTTP_HEAD_RAW_MAX      (256u * KIB) /* spaces and empty lines too */
#define HTTP_LINES_SLACK       KIB /* raw bytes, whatever the maximum */
#define PARAM_HEADERS_MAX      16u /* Mcp-Param-*: one a parameter */
#define BODY_BYTES_DEFAULT     (16ull * MIB) /* as a line of stdio */
#define BODY_BYTES_MIN         (64ull * KIB)
#define BODY_BYTES_MAX         (64ull * MIB)
#define HTTP_RAW_FACTOR        2u /* raw bytes of a body, chunk lines included */
#define HTTP_PIPELINED_MAX     (64u * KIB) /* held of the requests behind one */
#define HTTP_STREAM_QUEUED_MAX (256u * KIB)   /* beside one whole answer */
#define HTTP_BODIES_MAX        (256ull * MIB) /* of all connections together */
#define HTTP_QUEUED_MAX        (256ull * MIB) /* of what is not read: likewise */
#define HTTP_BODIES_OF_ONE     (128ull * MIB) /* of a principal's of them */
#define REFUSALS_LOGGED        10u /* a second; the others are counted */
#define REFUSAL_REASONS        48u /* literals of ours: about 30 */

/* ---- HTTP: a connection; all times are totals, not pauses ---- */

#define HTTP_UNSENT_MAX      (256u * KIB) /* of an answer, in the kernel */
#define HTTP_OVER_MAX        64u          /* at once, that are told "full" */
#define HTTP_ADMIN_MAX       16u          /* connections for operators */
#define HTTP_ACCEPTS_MAX     64u  /* before those that are in have a turn */
#define HTTP_ACCEPT_PAUSE_MS 100u /* when there are no descriptors */
#define HTTP_KEEPALIVE_S     30u /* a client that lost its network is noticed */

/* Descriptors of a server with so many connections. */
#define HTTP_FDS_NEEDED(n) \
	((n) + HTTP_OVER_MAX + HTTP_ADMIN_MAX + SERVER_FDS_NEEDED)

#define CONNECTIONS_DEFAULT 2048u
#define CONNECTIONS_MIN     1u
#define CONNECTIONS_MAX     60000u
#define HEAD_MS_DEFAULT     10000u /* from the first byte of a request */
#define BODY_MS_DEFAULT     30000u
#define IDLE_MS_DEFAULT     60000u
#define WRITE_MS_DEFAULT    30000u /* of an answer; a stream: to drain */
#define DEADLINE_MS_MIN     100u
#define DEADLINE_MS_MAX     3600000u
#define LINGER_MS           2000u /* after a refusal, so that it is read */
#define LINGER_BYTES_MAX    (8u * MIB)
#define SSE_COMMENT_MS      15000u /* proxies cut a silence of 30 s or 60 s */
#define SSE_AFTER_MS        15000u /* without an answer, a stream is begun */

/* ---- HTTP: who sends it ---- */

#define PRINCIPAL_NAME_MAX     64u
#define PER_MINUTE_DEFAULT     6000u
#define PER_MINUTE_MIN         1u
#define REQUESTS_A_CALL        10u     /* lists, polls and reads go with it */
#define PER_MINUTE_ALL_DEFAULT 600000u /* what a machine answers */
#define PER_MINUTE_ALL_MAX     60000000u
#define PER_MINUTE_MAX         1000000u
#define AUTH_CHALLENGE_MAX     1024u
#define TOKEN_BYTES_MIN        16u        /* shorter ones can be guessed */
#define TOKEN_BYTES_MAX        (8u * KIB) /* a web token with many claims */
#define TOKENS_MAX             1000u
#define WATCHED_BYTES_MAX      MIB  /* of a file of tokens or keys */
#define WATCH_EVERY_MS         500u /* a change is in force within a second */
#define AUTH_FAILURES_MAX      20u  /* of an address in a minute; then 429 */
/* Signatures that are still looked at then, a minute: each may cost 1 ms. */
#define AUTH_LOOKS_MAX     600u
#define JWT_CACHE_MAX      4096u /* web tokens that were verified */
#define AUTH_ADDRESSES_MAX 4096u
#define SUBJECTS_MAX       10000u    /* of web tokens, remembered for rates */
#define SUBJECT_IDLE_US    60000000u /* its rate is whole again: forgotten */
#define SUBJECT_BYTES_MAX  255u      /* as OpenID Connect has it */
#define AUTH_LEEWAY_S      30        /* between clocks of issuer and server */
#define JWKS_KEYS_MAX      64u       /* issuers publish 2 to 5 */
#define RSA_BITS_MIN       2048u     /* shorter ones can be factored */
#define RSA_BITS_MAX       8192u     /* longer ones cost us milliseconds */
#define WATCH_SETTLE_MS    20u       /* without a change: it is written */
#define WATCH_TRIES_MAX    10u       /* of a file that changes all the time */
#define WATCH_START_MS     10000u    /* to read the files, from a slow disk */

/* ---- HTTP: legacy sessions ---- */

#define SESSIONS_MAX            10000u
#define SESSIONS_OF_ONE_MAX     1000u /* of a principal */
#define SESSION_IDLE_MS_DEFAULT 3600000u
#define SESSION_IDLE_MS_MIN     1000u
#define SESSION_IDLE_MS_MAX     86400000u /* as long as an id lives */
#define SESSION_LIFE_S          86400u    /* of an id, also over a restart */
#define SESSION_EVENTS_MAX      256u /* kept for a client that comes back */
#define SESSION_EVENTS_BYTES    (2u * MIB)
#define SESSIONS_EVENTS_BYTES   (64u * MIB) /* of all sessions together */
#define SESSION_STREAMS_MAX     4u          /* open by GET: clients need one */
#define SESSION_ROUTES_MAX      256u   /* requests in flight, and streams */
#define SESSIONS_ENDED_MAX      65536u /* remembered: 24 bytes each */
#define SESSION_SSE_AFTER_MS    1000u  /* soon, so that it can be resumed */
#define SESSION_RETRY_MS        1000u  /* before a client comes back */

/* ---- configuration ---- */

#define CONF_LIST_MAX   32u
#define MODULE_NAME_MAX 128u /* the longest in the room has 60 bytes */
#define CONF_FILE_MAX   (64u * KIB)
#define CONF_LINE_MAX   190u /* of a file: libinih's lines end at 200 */
#define CONF_FAULTS_MAX 100u /* told at once; more are of one mistake */

/* ---- sessions of a room: interpreters that go on ---- */

#define ROOM_SESSIONS_DEFAULT   8u    /* of one client; a few branches */
#define ROOM_SESSIONS_MAX       256u  /* a process each */
#define ROOM_SESSION_LINE_MAX   16u   /* calls that wait for one */
#define ROOM_SESSIONS_ENDED_MAX 1000u /* remembered with the reason: 180 kB */
/* A quarter of a small machine: 8 sessions with a table of 250 MB each. */
#define SESSION_MEMORY_DEFAULT  (2048ull * MIB)
#define SESSION_MEMORY_MIN      MEMORY_BYTES_MIN
#define SESSION_MEMORY_MAX      (65536ull * MIB)
#define SESSION_REST_MS_DEFAULT 600000u /* a model that thinks comes back */
#define SESSION_REST_MS_MIN     1000u
#define SESSION_REST_MS_MAX     86400000u
#define SESSION_LIFE_MS_DEFAULT 3600000u /* slow damage ends */
#define SESSION_LIFE_MS_MIN     1000u
#define SESSION_LIFE_MS_MAX     86400000u

/* ---- what calls leave behind: resources ---- */

#define KEEP_BYTES_DEFAULT (64ull * MIB)
#define KEEP_BYTES_MIN     0ull /* nothing is kept, no file is listed */
#define KEEP_BYTES_MAX     (4096ull * MIB)
#define KEEP_MS_DEFAULT    600000u
#define KEEP_MS_MIN        1000u
#define KEEP_MS_MAX        86400000u
#define KEEP_CALLS_MAX     10000u
#define KEEP_CHARS         1000000u /* of a stream: what a resource may hold */
#define RESOURCE_URI_MAX   4096u    /* the longest name, percent-encoded */
#define RESOURCES_PAGE     100u     /* of one answer to resources/list */
#define RESULT_FILES_MAX   100u     /* listed */
#define RESULT_NAME_MAX    512u     /* of one, below /workspace */
#define RESULT_LINKS_MAX   20u      /* shown to a model; the rest is counted */
#define INLINE_FILE_MAX    (16u * KIB) /* of a text file, if asked for inline */
#define INLINE_FILES_MAX   (64u * KIB) /* of all of them, as JSON has them */
#define HINTS_MAX          2u          /* more would drown Python's message */
#define HINT_SHOWN_MAX     400u        /* bytes of one: a sentence or two */
#define PNG_SIDE_MAX       10000u      /* no client could show more */
#define PNG_PIXELS_MAX     (32u * MIB) /* what decoding one may cost: 128 MiB */
#define RESULT_FILES_BYTES (16u * MIB) /* taken along, of all together */
#define RESULT_IMAGES_MAX  20u         /* shown by a call */
#define RESULT_IMAGE_BYTES (2u * MIB)  /* of one: the room makes smaller ones */

/* ---- files that "run" writes for the user ---- */

/* Of one: a call's files and images are not larger. */
#define SAVER_FILE_MAX  (RESULT_FILES_BYTES)
#define SAVER_FILES_MAX 1000u        /* files and figures of one call */
#define SAVER_BYTES_MAX (256u * MIB) /* of all together */
#define SAVER_WAIT_MS   60000u       /* for a disk that is slow */

/* ---- tasks: calls that outlive the request that made them ---- */

#define TASK_AFTER_MS      2000u        /* shorter calls are answered at once */
#define TASK_POLL_MS       1000u        /* how often a client is told to ask */
#define TASKS_OF_ONE_MAX   64u          /* of a principal, ended ones too */
#define TASKS_BYTES_MAX    (128u * MIB) /* of results, a working one's in full */
#define ROUND_STATE_MAX    (8u * KIB)   /* what a client carries for us */
#define ROUND_STATE_LIFE_S 3600u        /* a person may have to be asked */

/* ---- a stream of a result: 4 bytes a character, and the marks ---- */

#define STREAM_TEXT_MAX (4u * OUTPUT_CHARS_MAX + 4096u)

/* ---- frames between our processes ---- */

/* Given files as they travel: with their names and two lengths each. */
#define FILES_IN_PACKED_MAX \
	(FILES_IN_BYTES + FILES_IN_MAX * (RESULT_NAME_MAX + 8u))
#define JOB_MAX         (CODE_MAX + STDIN_MAX + CALL_OPTIONS_MAX + FILES_IN_PACKED_MAX)
#define FRAME_MAX       (JOB_MAX + 4096u) /* the largest: a job */
#define CHILD_FRAME_MAX 512u /* a child says "ready" and "done", no more */

/* ---- what the guest chooses ---- */

#define GUEST_FDS_MAX       1024u /* what Linux gives a process by default */
#define GUEST_IOVECS_MAX    1024u /* IOV_MAX */
#define GUEST_IO_MAX        0x7fffffffu  /* its ssize_t has 32 bits */
#define GUEST_POLL_MAX      4096u        /* subscriptions of one poll_oneoff */
#define GUEST_NAME_MAX      255u         /* NAME_MAX */
#define GUEST_PATH_MAX      4096u        /* PATH_MAX */
#define GUEST_SYMLINKS_MAX  40u          /* Linux follows as many in one path */
#define GUEST_LINKS_MAX     65000u       /* hard links of a file, as ext4 */
#define GUEST_FILE_SIZE_MAX (1ull << 40) /* sparse: believed, not held */
#define PACKAGES_MAX        256u         /* wheels of the shelf, or added */
#define PACKAGES_LOCK_MAX   (128u * KIB) /* their list: a line has 250 bytes */
#define PACKAGE_NAME_MAX    100u         /* the longest known has about 80 */
#define PACKAGE_VERSION_MAX 60u
#define PACKAGES_PACK_MAX   (192u * MIB) /* the shelf has 56 MB */
#define PACK_FILES_MAX      32768u       /* of one pack: the shelf has 4,300 */
#define MEMFS_ROOTS_MAX     4u /* "/" and what must hide inside a file */

/* ---- what an operator grants: read once, shared by all calls ---- */

#define MOUNT_NODES_MAX  20000u /* names: a room holds 300 bytes for each */
#define MOUNT_DEPTH_MAX  32u    /* of directories: each is an open descriptor */
#define MOUNT_MAP_BYTES  (256u * KIB) /* larger files are mapped, not held */
#define MOUNT_MAPPED_MAX 1000u        /* each costs every fork a little */
#define MOUNT_HELD_MAX   (256ull * MIB)
#define MOUNTS_TEXT_MAX  (64u * KIB) /* all options, as they were written */

/* ---- processes of a room ---- */

/* Children made ready while idle: 1 MiB each, of a container 50 MiB. */
#define READY_DEFAULT 2u
#define READY_MIN     1u
#define READY_MAX     64u /* a burst of many clients at once */
/* While some still die, as many others may run. */
#define CHILDREN_MAX \
	(2u * CONCURRENCY_MAX + READY_MAX + SPENT_MAX + ROOM_SESSIONS_MAX)
#define SPENT_MAX            16u   /* ended, not yet reaped: off the path */
#define SPENT_HOLD_US        5000u /* by then the answer has left the machine */
#define INTERRUPT_BEFORE_MS  250u  /* a time limit: to end with a traceback; */
#define INTERRUPT_EVERY_MS   50u   /* a program may have caught the first */
#define ROOM_SESSIONS_MAX    256u  /* at once; each is a process */
#define MAX_SESSIONS_DEFAULT 8u    /* one person's: a conversation or two */
#define SESSION_SMALL_BYTES  (16ull * MIB) /* in pages of 4 KiB */
#define SPARE_DELAY_US       2000u /* without a call coming or going: a pause */
/* A worker's start is work for all processors, and takes so long that a little
 * more does not matter: no call has to share with it. While another is ready,
 * one that computes for a while has the machine for itself. */
#define SPARE_DELAY_WORKER_US 50000u
#define SPARE_DELAY_SECOND_US 500000u
#define YIELD_AFTER_US        100000u   /* longer calls let others go first, */
#define YIELD_CPU_NS          50000000u /* if they were busy for so long: */
#define YIELD_NICE            19 /* as low as it goes; others get 68 times more */
#define DYING_WAIT_US         20000u   /* a killed child is reaped in less */
#define CHILD_START_MAX_US    5000000u /* zygote, or child, is stuck then */
#define KEEPER_LATE_MS        5000u    /* behind a limit: the keeper is stuck */
#define ROOM_LOSSES_MAX       4u       /* in a row, before calls are refused */
#define CALL_AGAIN_MS         10u      /* doubled at each of the tries */
#define CALL_TRIES_MAX        3u       /* of a call whose child never began */
#define STEADY_US             10000000u /* a life that ends a back-off */
#define KEEPERS_MAX           16u       /* at once; a room has one */
#define LAUNCH_END_MS         1000u     /* for it and what it started to end */
#define LAUNCH_CLEAN_MS       800u      /* of that: for all that it started */
#define LAUNCH_STEP_MS_MAX    32u
#define GROUPS_AGAIN_MS_MAX   128u   /* between two tries to remove them */
#define GROUPS_WAIT_MS        10000u /* then they are left behind */
#define LAUNCH_WAIT_MS        3000u  /* for a launcher that forks */
#define RESTART_MS_MIN        50u /* back-off of a zygote or keeper that dies */
#define RESTART_MS_MAX        5000u

/* The wait after one of ms milliseconds. */
#define RESTART_MS_AFTER(ms) ((ms)*2 < RESTART_MS_MAX ? (ms)*2 : RESTART_MS_MAX)

/* A keeper's descriptors: of each child its channel, its pidfd, its output and
 * its memory group's files; then its own, the zygotes', and what arrives before
 * older ones are closed. */
#define KEEPER_FDS_NEEDED(concurrency, sessions, ready)        \
	(3u * ROOM_SLOTS(concurrency, sessions, ready) + 64u + \
	    CGROUP_FDS_NEEDED(ROOM_SLOTS(concurrency, sessions, ready)))

/* A room's memory groups: of every child that may live at once, and of two
 * that die slowly. Its processes: those, the keeper, two zygotes, a twin. */
#define ROOM_SLOTS(concurrency, sessions, ready) \
	((concurrency) + (sessions) + (ready) + SPENT_MAX + 2u)
#define ROOM_PROCESSES(concurrency, sessions, ready) \
	(ROOM_SLOTS(concurrency, sessions, ready) + 8u)

#define CHILD_SLACK_BYTES (64ull * MIB) /* host memory, tables, output */
#define TRIAL_MS          3000u         /* to try all walls: takes a few */
#define TRIALS_LOST_MAX   5u            /* trials that somebody kills */
#define ZYGOTE_END_MS     2000   /* for a killed one and all its children */
#define ZYGOTE_FORKS_MAX  10000u /* then it is replaced: slow damage ends */
#define ZYGOTE_AGE_US     (600ull * 1000000u) /* likewise; new addresses too */

/* ---- walls ---- */

/* The users, and groups, that the processes of a root-started server become.
 * 65520 to 65533 belong to nobody by the conventions of systemd and Debian,
 * between the dynamic users below and "nobody" (65534) above, and exist in a
 * container that maps 65536 numbers; container images use 65532. */
#define SERVER_ID 65521u
#define KEEPER_ID 65522u
#define CHILD_ID  65523u

#define USERNS_HELPER_MS 1000u /* for two lines into /proc: one is enough */
#define CHILD_FDS_MAX    4u    /* nothing three times, and its channel */
#define SESSION_FDS_MAX  7u    /* likewise, and what a copy of it is given */
/* Its user's processes, when it makes a copy in a room without a user namespace
 * of its own: all rooms of a machine may have that user. */
#define SESSION_NPROC 4096u
#define ROOT_SIZE     "4096" /* bytes of a root without files: the least */
#define ROOT_INODES   "8"    /* itself and its three directories, rounded */
#define MOUNTINFO_MAX (256u * KIB) /* two mounts, and what hides in /proc */

/* ---- control groups of a room ---- */

#define CGROUP_PROC_MAX     (4u * MIB) /* of /proc/self/mountinfo: 20,000 mounts */
#define CGROUP_SLOTS_MAX    CHILDREN_MAX
#define CGROUP_SLOT_PIDS    1u /* a child has one task */
#define CGROUP_SESSION_PIDS 2u /* and its copy, until that has moved */
#define WORKER_PIDS         2u /* a worker's own, beside its program's */
/* A room weighs as much as one ordinary process on each processor, however many
 * children it runs; less would starve its keeper on a busy machine. */
#define CGROUP_CPU_SHARES  1024u
#define CGROUP_CPU_WEIGHT  100u    /* the same for version 2 */
#define CGROUP_CPUS_MAX    64u     /* counted: weights end at 10,000 there */
#define CGROUP_END_US      200000u /* for killed processes to leave a group */
#define CGROUP_END_STEP_US 1000u

/* Descriptors that the groups of a room with so many slots hold. */
#define CGROUP_FDS_NEEDED(slots) (3u * (slots) + 8u)

/* A server's: its loop, its client, its keeper, outputs of calls that ended. */
#define SERVER_FDS_NEEDED 64u

/* ---- workers: what is at the other end of a proxy ---- */

#define WORKER_PIECE_MAX (1u * MIB)  /* of a stream or a file, in one frame */
#define WORKER_TEXT_MAX  4096u       /* of what it says of itself */
#define WORKER_NAME_MAX  4096u       /* of a file: what a kernel takes */
#define WORKER_READ      (64u * KIB) /* a pipe's worth at a time */
#define PROXY_BYTES      (32u * MIB) /* a job, an image, and some */
#define PROXY_FDS_MAX    8u /* its channel, stream and life, and a region */
/* Of a worker that is asked for: a container's start on a busy machine. */
#define WORKER_START_MS 20000
/* Until its factory begins it: behind a start of each other child, two at a
 * time, on a machine that is busy. */
#define WORKER_TURN_MS    60000
#define JAIL_ROOT_SIZE    "256k" /* of a root with directories and links alone */
#define JAIL_ROOT_INODES  "256"
#define JAIL_INODES       10000u /* of /workspace, and of /tmp */
#define JAIL_TMP_BYTES    (64u * MIB)
#define JAIL_END_MS       300u /* its interpreter's own end takes two */
#define JAIL_FDS_MAX      1024u
#define JAIL_SETTINGS_MAX (64u * KIB) /* three numbers a slot, and some */

/* Of the room deno: a root that holds the runner besides. */
#define DENO_ROOT_SIZE     "1m"
#define DENO_ROOT_INODES   "128"
#define DENO_BASE_BYTES    (320ull * MIB)  /* measured: 250 before a program */
#define DENO_DATA_BYTES    (2048ull * MIB) /* what V8 maps, and does not use */
#define FACTORY_START_MS   60000 /* it imports packages, or looks at an image */
#define FACTORY_STARTS_MAX 3u    /* where somebody kills what starts */

/* ---- containers ---- */

#define CONTAINER_TMP_MIB    64u   /* of /tmp */
#define CONTAINER_FILES_OPEN 1024u /* of one process */
/* Of the user in all containers, who is counted there together. */
#define CONTAINER_USER_PROCESSES 16384u
/* gVisor's kernel is itself threads of the host, which count there; it keeps
 * the user's own number. */
#define GVISOR_PIDS        1024u
#define GVISOR_PROCESSES   64u
#define ENGINE_ENV_MAX     64u        /* variables of the environment */
#define ENGINE_ARGS_MAX    96u        /* arguments of a command */
#define ENGINE_ARGS_TEXT   8192u      /* bytes of them */
#define ENGINE_TEXT_MAX    (1u * MIB) /* that a command may say */
#define ENGINE_ASK_MS      15000      /* for an answer of the engine */
#define ENGINE_TRIAL_MS    20000      /* for a container to start, in a trial */
#define CONTAINER_GRACE_MS 200        /* to end by itself, with its proxy */
#define CONTAINER_REMOVALS 3u         /* attempts */
#define SWEEPS_MAX         32u        /* while clients are there still */
#define RUNTIME_DELETES    8u         /* likewise; 25 ms, then twice as much */

/* ---- the log ---- */

#define LOG_LINE_MAX    1024 /* under PIPE_BUF: lines of processes do not mix */
#define LOG_CONTENT_MAX 800u /* of a text that --log-content shows */

#endif
