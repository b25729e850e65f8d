/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The client's objects.
 *
 *   session   one server; its tag set is shared by all its devices
 *     path    one pair of addresses: PD, control connection, I/O connections
 *       queue one I/O connection, for one hardware queue of the tag set
 *       disk queue the same for disks, once one is open on the path
 *   device    one open export, /dev/rblkN
 *
 * Locks, outermost first; what each protects:
 *
 *   session->setup  (mutex)    map on this session, and changes of its paths by order,
 *                              one at a time; held while it talks to the server, so it is
 *                              taken interruptibly; not while it waits for a path to come back
 *   path->lock      (mutex)    the path's objects: device, PD, connections, MRs.
 *                              Held by the thread that connects, by the one that
 *                              tears down, and by who makes disk connections of a live
 *                              path. No callback takes it.
 *   rblk_clt_lock   (mutex)    lists of sessions and devices, users of a session.
 *                              Never held while something waits for a peer.
 *   session->lock   (spinlock) path state, last error, generation, route, counts; which paths
 *                              may be active and are,
 *                              and what has to be ended before one is; the generation on
 *                              which a device is open; any context
 *   dev->wait_lock  (spinlock) bios that wait for a path; any context
 *
 * Outside of these: dev->close_sem (rwsem), for reading by who asks about an open that
 * somebody could close meanwhile; within it dev->size_lock (mutex), for who changes the size
 * of a device, also in the block layer. Nothing that I/O waits for takes one of them.
 *
 * A request is in flight on a queue from before it is posted until its last work
 * request completed without error, or, after any error, until the queue pairs of
 * the whole path are destroyed: only then does the sweep end it, or let it wait for a
 * path (hold.c). queue_rq looks at the path's state under RCU; tear-down first
 * changes the state, then waits for a grace period, and from then on nobody posts.
 *
 * The thread that connects a path opens on it each device that is in the list, and
 * makes the path live under rblk_clt_lock, when none was forgotten. A device is put into
 * the list only if the generation on which it was opened is still the path's; on other
 * paths that are live then, their reopen_work opens it.
 */
#ifndef _RBLK_CLIENT_H
#define _RBLK_CLIENT_H

#include <linux/blk-mq.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/rwsem.h>
#include <linux/socket.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>
#include <rblk/addr.h>
#include <rblk/conn.h>
#include <rblk/dev.h>
#include <rblk/extent.h>
#include <rblk/limits.h>
#include <rblk/path_state.h>
#include <rblk/policy.h>
#include <rblk/ring.h>
#include <rblk/wire.h>

#define RBLK_CLT_PATHS		8
#define RBLK_CLT_ASK_TIMEOUT	(10 * HZ)
#define RBLK_CLT_MAP_TIMEOUT	(30 * HZ)
#define RBLK_CLT_IO_TIMEOUT	(30 * HZ)
#define RBLK_CLT_FORCE_TIMEOUT	(3 * HZ)
#define RBLK_CLT_STEP_TIMEOUT	(15 * HZ)	/* for a step of a path that comes back */
#define RBLK_CLT_REOPEN_PAUSE	(2 * HZ)
#define RBLK_CLT_FENCE_PAUSE	HZ
/* The other paths carry on for so long if the server does not end what is lost. */
#define RBLK_CLT_FENCE_PATIENCE_MS	10000
#define RBLK_CLT_FAILOVER_MS	2000	/* that I/O waits at the least while another path is live */
/* For what is in flight on a path that is drained: another one carries on within the above. */
#define RBLK_CLT_DRAIN_TIMEOUT	HZ
#define RBLK_CLT_TAKE_TIMEOUT	(5 * HZ)	/* for another path to take over then */
#define RBLK_CLT_PROBE_PERIOD	(5 * HZ)
#define RBLK_CLT_CLOSE_TIMEOUT	(5 * HZ)	/* on all of those together */
#define RBLK_CLT_STABLE		(30 * HZ)	/* after which a path has no past */
#define RBLK_CLT_NO_PATH_MS	30000
#define RBLK_CLT_FOR_EVER	U32_MAX
#define RBLK_CLT_ANY_ORDER	U32_MAX
#define RBLK_CLT_SINK_SIZE	8	/* bytes to read behind a write; a block is longer */

struct rblk_clt_path;
struct rblk_clt_request;
struct rblk_clt_queue_group;
struct rblk_clt_session;

/**
 * struct rblk_clt_queue - one I/O connection
 * @conn: the connection
 * @path: its path
 * @index: its number, also that of the hardware queue it serves
 * @mrs: an MR for each tag of the hardware queue, or NULL where none are needed
 * @posted: requests so far, more or less: who counts at the same time counts once
 * @in_flight: requests now
 */
struct rblk_clt_queue {
	struct rblk_conn	conn;
	struct rblk_clt_path	*path;
	u32			index;
	struct ib_mr		**mrs;
	u32			posted;
	atomic_t		in_flight;
};

/**
 * struct rblk_clt_disk_tag - a tag of a disk connection
 * @req: the request that has it, or had it last
 * @turn: how often it was used
 * @asked: it is not answered yet
 * @mr: for its pages
 */
struct rblk_clt_disk_tag {
	struct rblk_clt_request	*req;
	u32			turn;
	bool			asked;
	struct ib_mr		*mr;
};

/**
 * struct rblk_clt_disk_queue - a disk connection
 * @conn: the connection
 * @path: its path
 * @index: its number, also that of the hardware queue it serves
 * @depth: how many tags
 * @tags: the tags
 * @requests: a message for each tag
 * @responses: receives, as many
 * @reg_qp: queue pair for registrations where they need one of their own, or NULL
 */
struct rblk_clt_disk_queue {
	struct rblk_conn		conn;
	struct rblk_clt_path		*path;
	u32				index;
	u32				depth;
	struct rblk_clt_disk_tag	*tags;
	struct rblk_ring		requests;
	struct rblk_ring		responses;
	struct ib_qp			*reg_qp;
};

/**
 * struct rblk_clt_stats - what a device, or a path, did on one queue
 * @reads: completed without error
 * @writes: completed without error
 * @read_bytes: by them
 * @write_bytes: by them
 * @errors: of a device: requests that ended with an error
 * @turn: of a device: requests that had the choice of several paths, more or less
 * @latency_ns: of a path: moving average of how long requests took; 0 for none
 *
 * Written by the queue's completion handler, one at a time; @errors also by who sweeps,
 * @turn by who submits, and all while there are no requests.
 */
struct rblk_clt_stats {
	u64	reads;
	u64	writes;
	u64	read_bytes;
	u64	write_bytes;
	u64	errors;
	u64	latency_ns;
	u32	turn;
} ____cacheline_aligned_in_smp;

/**
 * struct rblk_clt_control - the control connection and the one request on it
 * @conn: the connection
 * @ask_lock: one request at a time
 * @lock: protects the fields below
 * @tag: of the last request
 * @asking: a reply is awaited
 * @len: bytes of the reply, 0 while there is none
 * @buf: the reply
 */
struct rblk_clt_control {
	struct rblk_conn	conn;
	struct mutex		ask_lock;	/* one request at a time */
	spinlock_t		lock;		/* protects the fields below */
	u32			tag;
	bool			asking;
	u32			len;
	void			*buf;
};

/**
 * struct rblk_clt_route - between which addresses a path lies
 * @server: address and port of the server
 * @source: address of this node, or of no family for what the routes choose
 * @tuning: how its connections are set up
 */
struct rblk_clt_route {
	struct sockaddr_storage	server;
	struct sockaddr_storage	source;
	struct rblk_conn_tuning	tuning;
};

/**
 * struct rblk_clt_path - one way to the server
 * @session: its session
 * @index: its number in the session
 * @route: what it was told; its tuning under the session's lock
 * @tuning: of its connections, in this generation
 * @state: changed by rblk_clt_path_state() only
 * @generation: how often it tried to connect; changed with ask_lock held too
 * @error: why it failed, negative errno; 0 in a new attempt
 * @error_what: why it last failed, in words
 * @live_since: when it became live, in jiffies
 * @lost_at: when it was live last, in jiffies
 * @attempts: failed ones since it was last live for long enough
 * @connects: how often it became live
 * @losses: how often it was lost then
 * @ending: works are to tear it down
 * @drained: it is not to be active
 * @carried: it was active in this generation, so that something may be on its way
 * @fence: generation that carried I/O and that the server has to end; 0 for none
 * @fence_since: when it was lost, in jiffies
 * @fence_asked: when the server was asked last to end it, or since when it has to be, in jiffies
 * @draining: that one is not lost yet: what is in flight there is to end first
 * @was_short: generation in which another path served more devices, when that was looked at last
 * @vacant: there is nothing of it, and its place may be given to another one
 * @until: when to give up, in jiffies, if it is @hurried
 * @hurried: somebody waits for it to come up
 * @stats: for each queue, of all generations; changed with @lock held too
 * @nr_stats: how many
 * @lock: protects the objects below
 * @source: address it comes from, in this generation; changed with the session's lock held too
 * @server_id: what the server says it is; under the session's lock
 * @server_device: number of the server's RDMA device, 0 if unknown; under the session's lock
 * @server_told: the server was asked for it
 * @rdma_device: name of its device, kept after it has gone
 * @rdma_port: port of the device
 * @dev_user: it as a user of @dev
 * @dev: its device
 * @pd: its protection domain
 * @sink: takes what the READs behind strict writes bring
 * @sink_dma: of it
 * @plan: how its I/O connections are built
 * @control: its control connection
 * @queues: its I/O connections
 * @nr_queues: how many
 * @token: shows that a connection belongs to it
 * @disk_queues: its disk connections, as many, or NULL; changed with the session's lock held too
 * @disks_up: all of those are up
 * @fail_work: ends what goes on there after an error
 * @free_work: tears down what is left of it then
 * @connect_work: brings it up again
 * @reopen_work: opens on it what the server refused when it came up
 * @revokes: messages of withdrawal that wait for a thread
 * @resizes: messages of another size that wait for @resize_work; under the session's lock
 * @nr_resizes: how many
 * @resize_work: deals with them
 */
struct rblk_clt_path {
	struct rblk_clt_session	*session;
	u32			index;
	struct rblk_clt_route	route;
	struct rblk_conn_tuning	tuning;
	enum rblk_path_state	state;
	u32			generation;
	int			error;
	const char		*error_what;
	unsigned long		live_since;
	unsigned long		lost_at;
	u32			attempts;
	u32			connects;
	u32			losses;
	bool			ending;
	bool			drained;
	bool			carried;
	u32			fence;
	unsigned long		fence_since;
	unsigned long		fence_asked;
	bool			draining;
	u32			was_short;
	bool			vacant;
	unsigned long		until;
	bool			hurried;
	struct rblk_clt_stats	*stats;
	u32			nr_stats;

	struct mutex		lock;		/* protects the objects below */
	struct sockaddr_storage	source;
	uuid_t			server_id;
	u32			server_device;
	bool			server_told;
	char			rdma_device[IB_DEVICE_NAME_MAX];
	u32			rdma_port;
	struct rblk_dev_user	dev_user;
	struct rblk_dev		*dev;
	struct ib_pd		*pd;
	void			*sink;
	u64			sink_dma;
	struct rblk_queue_plan	plan;
	struct rblk_clt_control	control;
	struct rblk_clt_queue	*queues;
	u32			nr_queues;
	u64			token;
	struct rblk_clt_disk_queue *disk_queues;
	bool			disks_up;
	struct work_struct	fail_work;
	struct work_struct	free_work;
	struct delayed_work	connect_work;
	struct delayed_work	reopen_work;
	atomic_t		revokes;
	struct list_head	resizes;
	u32			nr_resizes;
	struct delayed_work	resize_work;
};

/**
 * struct rblk_clt_session - what this client has with one server
 * @ref: one for each device, until its disk is freed, and one for each user
 * @entry: in the list of all
 * @id: random, made here
 * @server_id: what the server says it is; under @lock
 * @client: how this client calls itself
 * @want_queues: asked for; 0 is one for each CPU
 * @want_depth: asked for
 * @reconnect: paths that are lost come back, and requests wait for them
 * @failed: its set-up did, and nobody else may use it
 * @users: mapped devices, and threads that map or change paths; with the last one it ends
 * @setup: map and changes of the paths, one at a time
 * @lock: protects state, error and generation of the paths
 * @wait: for a path to be active
 * @paths: the paths, and places for more, which are REMOVED
 * @policy: how the I/O is spread over them; enum rblk_policy
 * @write_order: what the end of a write promises; enum rblk_client_write_order
 * @strict: writes are
 * @ordered: and have been for so long that a read over any path finds each that has ended
 * @order_since: since when what began before may be arriving, in jiffies; of @order_work
 * @active: a bit for each that carries I/O
 * @was_active: the same, when all were stopped
 * @losses: how often one of those was lost
 * @stopped: none carries any more, and those who wait do not know yet
 * @fence_work: has those ended that are lost
 * @probe_work: sees whether those that are live are so
 * @order_work: makes writes strict
 * @plan: what the requests are made for; no path may be capable of less
 * @tag_set: shared by the devices
 * @tag_set_ready: @tag_set is allocated
 */
struct rblk_clt_session {
	struct kref		ref;
	struct list_head	entry;
	uuid_t			id;
	uuid_t			server_id;
	char			client[RBLK_NAME_SIZE];
	u32			want_queues;
	u32			want_depth;
	bool			reconnect;
	bool			failed;
	u32			users;
	struct mutex		setup;		/* map and path changes */
	spinlock_t		lock;		/* state and error of the paths */
	wait_queue_head_t	wait;
	struct rblk_clt_path	paths[RBLK_CLT_PATHS];
	u32			policy;
	u32			write_order;
	bool			strict;
	bool			ordered;
	unsigned long		order_since;
	unsigned long		active;
	unsigned long		was_active;
	u32			losses;
	bool			stopped;
	struct delayed_work	fence_work;
	struct delayed_work	probe_work;
	struct delayed_work	order_work;
	struct rblk_queue_plan	plan;
	struct blk_mq_tag_set	tag_set;
	bool			tag_set_ready;
};

/**
 * struct rblk_clt_keys - the keys of an open
 * @rcu: to free it
 * @ext: what they are good for
 * @rkeys: one for each extent
 */
struct rblk_clt_keys {
	struct rcu_head		rcu;
	struct rblk_extents	ext;
	u32			rkeys[];
};

/**
 * struct rblk_clt_attach - a device's keys on one path
 * @generation: of the path, on which it is open; 0 for none
 * @refused: generation on which the server refused to open it, for now
 * @handle: the server's name of the open
 * @incarnation: as the server said last on this path
 * @keys: of the open of now or, while it is not open, of the last one; changed under the
 *	session's lock
 */
struct rblk_clt_attach {
	u32				generation;
	u32				refused;
	u32				handle;
	uuid_t				incarnation;
	struct rblk_clt_keys __rcu	*keys;
};

/* struct rblk_clt_device @flags */
enum {
	RBLK_DEV_READY,		/* the disk was added */
	RBLK_DEV_REVOKED,	/* the server withdrew the export */
	RBLK_DEV_CLOSED,	/* the server was told to close it */
	RBLK_DEV_REMOVING,	/* being unmapped: no new openers */
	RBLK_DEV_EXPIRED,	/* no path for too long: requests fail until there is one */
	RBLK_DEV_LOST,		/* what the server has now is not what it had */
	RBLK_DEV_CLOSING,	/* who asks about its opens is to come to an end */
	RBLK_DEV_CUT,		/* it would be larger, but for what was cut off and is in use */
};

/**
 * struct rblk_clt_device - a disk
 * @ref: one of the disk, others of who works on it
 * @entry: in the list of all
 * @index: N of /dev/rblkN
 * @flags: life
 * @session: its session
 * @disk: its disk
 * @export: name of the export
 * @read_only: opened for reading only
 * @shared: the export is
 * @block_size: logical, bytes
 * @backing: memory or a disk
 * @limits: of a disk, as they were when it was mapped
 * @incarnation: identity of the content; it and @ext under rblk_clt_lock and @size_lock
 * @writer_epoch: changes when another client opens the export for writing
 * @lost_what: what is other than it was, if it is lost
 * @revoked_what: why the server withdrew it, if it did
 * @refused_what: why the server refused to open it again, for now
 * @wait_lock: protects the next two
 * @waiting: I/O that waits for a path
 * @flushes: how many flushes of the block layer do
 * @submit_work: submits it anew
 * @lost_at: since when it has no path, in jiffies; this and the next three under rblk_clt_lock
 * @was_back: it had a path since
 * @was_waiting: something waited when it was back
 * @was_done: requests done when it was back
 * @losses: of the session, when it began to be mapped
 * @no_path_ms: how long requests wait for a path, or RBLK_CLT_FOR_EVER
 * @no_path_work: ends their wait
 * @ext: how the export is cut, and how large the disk is. A path that has no keys for all of
 *	it carries nothing
 * @close_sem: who asks the server about an open keeps it from being closed
 * @size_lock: one at a time changes the size
 * @cut: there may be something of beyond this in the page cache; 0 for no
 * @size_work: makes it larger
 * @attach: its keys on each path
 * @stats: for each queue
 * @nr_queues: how many
 * @groups: its sysfs attributes
 * @queue_groups: those of the queues, which @groups points to
 */
struct rblk_clt_device {
	struct kref			ref;
	struct list_head		entry;
	u32				index;
	unsigned long			flags;
	struct rblk_clt_session		*session;
	struct gendisk			*disk;
	char				export[RBLK_NAME_SIZE];
	bool				read_only;
	bool				shared;
	u32				block_size;
	enum rblk_wire_backing		backing;
	struct rblk_msg_limits_reply	limits;
	uuid_t				incarnation;
	u32				writer_epoch;
	const char			*lost_what;
	const char			*revoked_what;
	const char			*refused_what;
	spinlock_t			wait_lock;	/* protects the next two */
	struct bio_list			waiting;
	u32				flushes;
	struct work_struct		submit_work;
	unsigned long			lost_at;
	bool				was_back;
	bool				was_waiting;
	u64				was_done;
	u32				losses;
	u32				no_path_ms;
	struct delayed_work		no_path_work;
	struct rblk_extents		ext;
	struct rw_semaphore		close_sem;
	struct mutex			size_lock;	/* whoever changes the size */
	u64				cut;
	struct delayed_work		size_work;
	struct rblk_clt_attach		attach[RBLK_CLT_PATHS];
	struct rblk_clt_stats		*stats;
	u32				nr_queues;
	const struct attribute_group	**groups;
	struct rblk_clt_queue_group	*queue_groups;
};

/**
 * struct rblk_clt_map_args - what map was asked
 * @routes: of the paths; the first names the server
 * @nr_routes: how many
 * @export: name of the export
 * @client: how this client calls itself
 * @read_only: open it for reading only
 * @steal: take it over from another writer
 * @queues: I/O connections, 0 for the default
 * @depth: requests in flight on each, 0 for the default
 * @reconnect: bring a path back that is lost
 * @no_path_ms: how long requests wait for a path, or RBLK_CLT_FOR_EVER
 * @policy: how the I/O is spread over the paths, or RBLK_POLICY_NR for what there is
 * @write_order: what the end of a write promises, or RBLK_CLT_ANY_ORDER for what there is
 * @deadline: when to give up, in jiffies
 */
struct rblk_clt_map_args {
	struct rblk_clt_route	routes[RBLK_CLT_PATHS];
	u32			nr_routes;
	char			export[RBLK_NAME_SIZE];
	char			client[RBLK_NAME_SIZE];
	bool			read_only;
	bool			steal;
	u32			queues;
	u32			depth;
	bool			reconnect;
	u32			no_path_ms;
	u32			policy;
	u32			write_order;
	unsigned long		deadline;
};

/* main.c */
extern struct workqueue_struct *rblk_clt_wq;
extern struct workqueue_struct *rblk_clt_free_wq;
extern struct workqueue_struct *rblk_clt_connect_wq;
extern struct workqueue_struct *rblk_clt_submit_wq;
extern struct workqueue_struct *rblk_clt_fence_wq;
extern struct workqueue_struct *rblk_clt_revoke_wq;
extern struct workqueue_struct *rblk_clt_size_wq;

/* session.c */
extern struct mutex rblk_clt_lock;
extern u32 rblk_clt_changes;
extern struct list_head rblk_clt_sessions;
struct rblk_clt_session *rblk_clt_session_get(const struct rblk_clt_map_args *args,
					      struct netlink_ext_ack *extack);
int rblk_clt_session_setup(struct rblk_clt_session *session,
			   const struct rblk_clt_map_args *args,
			   struct netlink_ext_ack *extack);
int rblk_clt_session_wait(struct rblk_clt_session *session, unsigned long deadline,
			  struct netlink_ext_ack *extack);
void rblk_clt_sessions_stop(void);
void rblk_clt_session_unuse(struct rblk_clt_session *session);
void rblk_clt_session_cause(const struct rblk_clt_session *session, int *err, const char **what);
void rblk_clt_session_server(struct rblk_clt_session *session, struct sockaddr_storage *addr);
bool rblk_clt_route_equal(const struct rblk_clt_route *one, const struct rblk_clt_route *two);
void rblk_clt_session_put(struct rblk_clt_session *session);

/* path.c */
void rblk_clt_path_init(struct rblk_clt_path *path, struct rblk_clt_session *session, u32 index,
			const struct rblk_clt_route *route);
bool rblk_clt_path_renew(struct rblk_clt_path *path, const struct rblk_clt_route *route);
void rblk_clt_path_start(struct rblk_clt_path *path);
bool rblk_clt_path_state(struct rblk_clt_path *path, enum rblk_path_state to);
void rblk_clt_path_error(struct rblk_clt_path *path, int err, const char *what);
void rblk_clt_path_error_of(struct rblk_clt_path *path, u32 generation, int err,
			    const char *what);
void rblk_clt_path_cause(struct rblk_clt_path *path, int *err, const char **what);
void rblk_clt_path_stop(struct rblk_clt_path *path, const char *what);
void rblk_clt_path_remove(struct rblk_clt_path *path);
void rblk_clt_path_teardown(struct rblk_clt_path *path);
bool rblk_clt_path_live(struct rblk_clt_path *path);
int rblk_clt_path_serve(struct rblk_clt_path *path, const struct rblk_msg_hello_reply *hello,
			const char **what);
void rblk_clt_path_end(struct rblk_clt_path *path);
void rblk_clt_path_notify(struct rblk_clt_path *path);

/* connect.c */
int rblk_clt_path_connect(struct rblk_clt_path *path, unsigned long deadline, const char **what);
void rblk_clt_queue_mrs_free(struct rblk_clt_queue *queue);

/* disk.c */
int rblk_clt_disk_open(struct rblk_clt_device *dev, struct rblk_clt_path *path, u32 generation,
		       u32 handle, unsigned long deadline, const char **what);
int rblk_clt_disk_reopen(const struct rblk_clt_device *dev, struct rblk_clt_path *path,
			 u32 generation, u32 handle, const char **differs, const char **what);
void rblk_clt_disk_limits(const struct rblk_clt_device *dev, struct queue_limits *lim);

/* disk_conn.c */
bool rblk_clt_disk_may(const struct rblk_clt_path *path, u32 generation);
int rblk_clt_disk_up(struct rblk_clt_path *path, u32 generation, const char **what);
void rblk_clt_disk_abort(struct rblk_clt_path *path, int err, const char *what);
void rblk_clt_disk_cut(struct rblk_clt_path *path);
void rblk_clt_disk_destroy(struct rblk_clt_path *path);

/* disk_io.c */
void rblk_clt_disk_sent(struct ib_cq *cq, struct ib_wc *wc);
void rblk_clt_disk_answered(struct ib_cq *cq, struct ib_wc *wc);

/* fence.c */
bool rblk_clt_fence_pending(const struct rblk_clt_session *session);
void rblk_clt_active_lost(struct rblk_clt_path *path);
void rblk_clt_active_stop(struct rblk_clt_session *session);
void rblk_clt_active_break(struct rblk_clt_session *session, const char *what);
struct rblk_clt_path *rblk_clt_active_found(struct rblk_clt_path *path);
struct rblk_clt_path *rblk_clt_active_best(struct rblk_clt_path *first, bool other);
void rblk_clt_active_relieve(struct rblk_clt_session *session);
void rblk_clt_go_on(struct rblk_clt_path *path);
void rblk_clt_fence_stopped(struct rblk_clt_session *session);
void rblk_clt_policy_set(struct rblk_clt_session *session, enum rblk_policy policy);
void rblk_clt_fence_work(struct work_struct *work);

/* order.c */
void rblk_clt_order_check(struct rblk_clt_session *session);
void rblk_clt_order_set(struct rblk_clt_session *session, u32 order);
void rblk_clt_order_work(struct work_struct *work);

/**
 * struct rblk_clt_tune - parameters of a path that are to change
 * @tos: type of service, or negative
 * @ack_timeout: as in struct rblk_conn_tuning, or negative
 * @retries: the same
 */
struct rblk_clt_tune {
	int	tos;
	int	ack_timeout;
	int	retries;
};

#define RBLK_CLT_TUNE_NOTHING	((struct rblk_clt_tune) { -1, -1, -1 })

/* path_admin.c */
#define RBLK_CLT_STALE_PAUSE	200	/* ms to wait where the server has an older one still */
int rblk_clt_path_add(u32 index, const struct rblk_clt_route *route, unsigned long deadline,
		      u32 *number, struct netlink_ext_ack *extack);
int rblk_clt_path_drop(u32 index, u32 number, bool force, struct netlink_ext_ack *extack);
int rblk_clt_path_drain(u32 index, u32 number, bool force, struct netlink_ext_ack *extack);
int rblk_clt_path_undrain(u32 index, u32 number, struct netlink_ext_ack *extack);
#define RBLK_CLT_RETUNE		"it was to connect with other parameters"
bool rblk_clt_path_untuned(const struct rblk_clt_path *path);
void rblk_clt_tune(struct rblk_conn_tuning *tuning, const struct rblk_clt_tune *tune);
int rblk_clt_path_tune(u32 index, u32 number, const struct rblk_clt_tune *tune,
		       struct netlink_ext_ack *extack);

/* probe.c */
bool rblk_clt_path_answers(struct rblk_clt_path *path);
void rblk_clt_probe_work(struct work_struct *work);

/* control.c */
extern const struct rblk_conn_ops rblk_clt_control_ops;
int rblk_clt_no_time(const struct rblk_clt_path *path);
int rblk_clt_ask(struct rblk_clt_path *path, u32 generation, struct rblk_msg *msg,
		 struct rblk_msg *reply, u32 *rkeys, bool interruptible,
		 unsigned long deadline, const char **what);

/* attach.c */
struct rblk_clt_keys *rblk_clt_keys_alloc(u64 size, u8 shift);
int rblk_clt_ask_keys(const struct rblk_clt_device *dev, struct rblk_clt_path *path,
		      u32 generation, u32 handle, u32 first, struct rblk_clt_keys *keys,
		      unsigned long deadline, const char **what);
void rblk_clt_attach_back(struct rblk_clt_device *dev);
int rblk_clt_device_open(struct rblk_clt_device *dev, bool steal, unsigned long deadline,
			 const char **what);
void rblk_clt_device_close(struct rblk_clt_device *dev, unsigned long deadline);
void rblk_clt_device_spread(struct rblk_clt_device *dev);
void rblk_clt_fill_req(const struct rblk_clt_path *path, struct rblk_req *req,
		       enum rblk_conn_kind kind, u16 queue, u16 depth, u64 token);
int rblk_clt_conn_create(struct rblk_clt_path *path, struct rblk_conn *conn,
			 const struct rblk_conn_sizes *sizes, unsigned long deadline,
			 const char **what);
unsigned long rblk_clt_step_deadline(const struct rblk_clt_path *path, unsigned long deadline);
bool rblk_clt_serves(const struct rblk_clt_path *path, const struct rblk_clt_device *dev);
u32 rblk_clt_served(const struct rblk_clt_path *path);
struct rblk_clt_device *rblk_clt_reopen_next(struct rblk_clt_path *path, bool refused);
int rblk_clt_reopen(struct rblk_clt_path *path, const char **what);
void rblk_clt_reopen_work(struct work_struct *work);

/* device.c */
extern struct list_head rblk_clt_devices;
int rblk_clt_map(const struct rblk_clt_map_args *args, u32 *index,
		 struct netlink_ext_ack *extack);
int rblk_clt_unmap(u32 index, bool force, struct netlink_ext_ack *extack);
void rblk_clt_unmap_all(void);
void rblk_clt_device_put(struct rblk_clt_device *dev);
struct rblk_clt_device *rblk_clt_device_find(u32 index);
void rblk_clt_device_reason(struct rblk_clt_device *dev, int *err, const char **what);
u32 rblk_clt_device_state(struct rblk_clt_device *dev, const char **what);

/* hold.c */
bool rblk_clt_may_wait(const struct rblk_clt_device *dev);
bool rblk_clt_attached(const struct rblk_clt_device *dev, const struct rblk_clt_path *path);
struct rblk_clt_path *rblk_clt_path_of(struct rblk_clt_device *dev);
struct rblk_clt_path *rblk_clt_path_for(struct rblk_clt_device *dev, u32 queue);
void rblk_clt_fail_waiting(struct rblk_clt_device *dev);
void rblk_clt_submit_work(struct work_struct *work);
void rblk_clt_path_lost(struct rblk_clt_device *dev, unsigned long when);
void rblk_clt_paths_lost(struct rblk_clt_session *session, unsigned long when);
void rblk_clt_device_back(struct rblk_clt_device *dev);
void rblk_clt_no_path_set(struct rblk_clt_device *dev, u32 ms);
void rblk_clt_no_path_work(struct work_struct *work);

/* revoke.c */
int rblk_clt_revoked(struct rblk_clt_path *path, u32 handle, enum rblk_status reason);

struct rblk_clt_device *rblk_clt_device_of(struct rblk_clt_path *path, u32 generation, u32 handle);

/* resize.c */
int rblk_clt_resized(struct rblk_clt_path *path, const struct rblk_msg_resize *msg);
bool rblk_clt_resize_waits(struct rblk_clt_path *path, u32 generation, u32 handle, bool forget);
void rblk_clt_resize_foretold(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			      u32 generation, const struct rblk_msg_open_reply *open);
void rblk_clt_resize_purge(struct rblk_clt_path *path);
void rblk_clt_resize_work(struct work_struct *work);
void rblk_clt_size_work(struct work_struct *work);

/* io.c */
extern const struct blk_mq_ops rblk_clt_mq_ops;
unsigned int rblk_clt_cmd_size(const struct rblk_queue_plan *plan);
void rblk_clt_sweep(struct rblk_clt_path *path);
void rblk_clt_in_flight(struct rblk_clt_session *session, u32 nr[RBLK_CLT_PATHS]);
bool rblk_clt_unordered(struct rblk_clt_session *session);
bool rblk_clt_break_busy(struct rblk_clt_device *dev, const char *what);
bool rblk_clt_uses_other_keys(struct rblk_clt_device *dev, struct rblk_clt_path *path,
			      u32 generation);

/* sysfs.c */
struct rblk_clt_device *rblk_clt_sysfs_dev(struct device *d);
int rblk_clt_sysfs_create(struct rblk_clt_device *dev);
void rblk_clt_sysfs_free(struct rblk_clt_device *dev);

/* sysfs_path.c */
void rblk_clt_sysfs_path_init(void);
const struct attribute_group *rblk_clt_sysfs_path_group(u32 index);

/**
 * struct rblk_clt_path_facts - what may change of a path at any time, of one moment
 * @state: its state
 * @generation: how often it tried to connect
 * @connects: how often it became live
 * @losses: how often it was lost then
 * @queues: I/O connections it has
 * @active: it carries I/O
 * @drained: it is not to
 * @what: why it last failed, in words; NULL if it did not
 * @tuning: as asked for
 * @server_device: number of the server's RDMA device, 0 if unknown
 * @source: address it comes from, of no family while it never connected
 * @server: address of the server
 * @rdma_device: name of its device; empty while it never had one
 * @rdma_port: port of the device
 */
struct rblk_clt_path_facts {
	enum rblk_path_state	state;
	u32			generation;
	u32			connects;
	u32			losses;
	u32			queues;
	bool			active;
	bool			drained;
	const char		*what;
	struct rblk_conn_tuning	tuning;
	u32			server_device;
	struct sockaddr_storage	source;
	struct sockaddr_storage	server;
	char			rdma_device[IB_DEVICE_NAME_MAX];
	u32			rdma_port;
};

/* netlink_path.c */
void rblk_clt_path_facts(struct rblk_clt_path *path, struct rblk_clt_path_facts *facts);

/* netlink.c */
int rblk_clt_netlink_init(void);
void rblk_clt_netlink_exit(void);
void rblk_clt_notify_device(struct rblk_clt_device *dev, u8 cmd);
void rblk_clt_notify_session(struct rblk_clt_session *session, u8 cmd);

#endif /* _RBLK_CLIENT_H */
