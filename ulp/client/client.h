/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The client's objects.
 *
 *   session   one server; its tag set is shared by all its devices
 *     path    one pair of addresses: PD, control connection, I/O connections
 *       queue one I/O connection, for one hardware queue of the tag set
 *   device    one open export, /dev/rblkN
 *
 * Locks, outermost first; what each protects:
 *
 *   session->setup  (mutex)    map on this session, one at a time; held while it
 *                              talks to the server, so it is taken interruptibly
 *   path->lock      (mutex)    the path's objects: device, PD, connections, MRs.
 *                              Held by the thread that connects and by the one
 *                              that tears down. No callback takes it.
 *   rblk_clt_lock   (mutex)    lists of sessions and devices, users of a session.
 *                              Never held while something waits for a peer.
 *   session->lock   (spinlock) path state and last error; any context
 *
 * A request is in flight on a queue from before it is posted until its last work
 * request completed without error, or, after any error, until the queue pairs of
 * the whole path are destroyed: only then does the sweep end it. queue_rq looks
 * at the path's state under RCU; tear-down first changes the state, then waits
 * for a grace period, and from then on nobody posts.
 */
#ifndef _RBLK_CLIENT_H
#define _RBLK_CLIENT_H

#include <linux/blk-mq.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/socket.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>
#include <rblk/addr.h>
#include <rblk/conn.h>
#include <rblk/dev.h>
#include <rblk/extent.h>
#include <rblk/limits.h>
#include <rblk/path_state.h>
#include <rblk/wire.h>

/* One path for now. The code counts on no particular number. */
#define RBLK_CLT_PATHS		1
#define RBLK_CLT_ASK_TIMEOUT	(10 * HZ)
#define RBLK_CLT_MAP_TIMEOUT	(30 * HZ)
#define RBLK_CLT_IO_TIMEOUT	(30 * HZ)
#define RBLK_CLT_FORCE_TIMEOUT	(3 * HZ)

struct rblk_clt_path;
struct rblk_clt_queue_group;
struct rblk_clt_session;

/**
 * struct rblk_clt_queue - one I/O connection
 * @conn: the connection
 * @path: its path
 * @index: its number, also that of the hardware queue it serves
 * @mrs: an MR for each tag of the hardware queue, or NULL where none are needed
 */
struct rblk_clt_queue {
	struct rblk_conn	conn;
	struct rblk_clt_path	*path;
	u32			index;
	struct ib_mr		**mrs;
};

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
 * struct rblk_clt_path - one way to the server
 * @session: its session
 * @index: its number in the session
 * @state: changed by rblk_clt_path_state() only
 * @generation: how often it tried to connect
 * @error: why it last failed, negative errno
 * @error_what: that in words
 * @lock: protects the objects below
 * @source: address it comes from
 * @rdma_device: name of its device, kept after it has gone
 * @rdma_port: port of the device
 * @dev_user: it as a user of @dev
 * @dev: its device
 * @pd: its protection domain
 * @plan: how its I/O connections are built
 * @control: its control connection
 * @queues: its I/O connections
 * @nr_queues: how many
 * @fail_work: tears it down after an error
 * @revokes: messages of withdrawal that wait for a thread
 */
struct rblk_clt_path {
	struct rblk_clt_session	*session;
	u32			index;
	enum rblk_path_state	state;
	u32			generation;
	int			error;
	const char		*error_what;

	struct mutex		lock;		/* protects the objects below */
	struct sockaddr_storage	source;
	char			rdma_device[IB_DEVICE_NAME_MAX];
	u32			rdma_port;
	struct rblk_dev_user	dev_user;
	struct rblk_dev		*dev;
	struct ib_pd		*pd;
	struct rblk_queue_plan	plan;
	struct rblk_clt_control	control;
	struct rblk_clt_queue	*queues;
	u32			nr_queues;
	struct work_struct	fail_work;
	atomic_t		revokes;
};

/**
 * struct rblk_clt_session - what this client has with one server
 * @ref: one for each device, until its disk is freed, and one for each user
 * @entry: in the list of all
 * @id: random, made here
 * @server_id: what the server says it is
 * @server: address and port
 * @client: how this client calls itself
 * @want_queues: asked for; 0 is one for each CPU
 * @want_depth: asked for
 * @users: mapped devices and threads that map; with the last one it ends
 * @setup: map, one at a time
 * @lock: protects state and error of the paths
 * @paths: the paths
 * @tag_set: shared by the devices
 * @tag_set_ready: @tag_set is allocated
 */
struct rblk_clt_session {
	struct kref		ref;
	struct list_head	entry;
	uuid_t			id;
	uuid_t			server_id;
	struct sockaddr_storage	server;
	char			client[RBLK_NAME_SIZE];
	u32			want_queues;
	u32			want_depth;
	u32			users;
	struct mutex		setup;		/* map, one at a time */
	spinlock_t		lock;		/* state and error of the paths */
	struct rblk_clt_path	paths[RBLK_CLT_PATHS];
	struct blk_mq_tag_set	tag_set;
	bool			tag_set_ready;
};

/**
 * struct rblk_clt_stats - what a device did on one queue
 * @reads: completed without error
 * @writes: completed without error
 * @read_bytes: by them
 * @write_bytes: by them
 * @errors: requests that ended with an error
 *
 * Written by the queue's completion handler only, one at a time.
 */
struct rblk_clt_stats {
	u64	reads;
	u64	writes;
	u64	read_bytes;
	u64	write_bytes;
	u64	errors;
} ____cacheline_aligned_in_smp;

/**
 * struct rblk_clt_attach - a device's keys on one path
 * @handle: the server's name of the open
 * @rkeys: one for each extent, NULL while it is not open on the path
 */
struct rblk_clt_attach {
	u32	handle;
	u32	*rkeys;
};

/* struct rblk_clt_device @flags */
enum {
	RBLK_DEV_READY,		/* the disk was added */
	RBLK_DEV_REVOKED,	/* the server withdrew the export */
	RBLK_DEV_CLOSED,	/* the server was told to close it */
	RBLK_DEV_REMOVING,	/* being unmapped: no new openers */
};

/**
 * struct rblk_clt_device - a disk
 * @entry: in the list of all
 * @index: N of /dev/rblkN
 * @flags: life
 * @session: its session
 * @disk: its disk
 * @export: name of the export
 * @read_only: opened for reading only
 * @shared: the export is
 * @block_size: logical, bytes
 * @incarnation: identity of the content
 * @ext: how the export is cut
 * @attach: its keys on each path
 * @stats: for each queue
 * @nr_queues: how many
 * @groups: its sysfs attributes
 * @queue_groups: those of the queues, which @groups points to
 */
struct rblk_clt_device {
	struct list_head		entry;
	u32				index;
	unsigned long			flags;
	struct rblk_clt_session		*session;
	struct gendisk			*disk;
	char				export[RBLK_NAME_SIZE];
	bool				read_only;
	bool				shared;
	u32				block_size;
	uuid_t				incarnation;
	struct rblk_extents		ext;
	struct rblk_clt_attach		attach[RBLK_CLT_PATHS];
	struct rblk_clt_stats		*stats;
	u32				nr_queues;
	const struct attribute_group	**groups;
	struct rblk_clt_queue_group	*queue_groups;
};

/**
 * struct rblk_clt_map_args - what map was asked
 * @server: address and port
 * @export: name of the export
 * @client: how this client calls itself
 * @read_only: open it for reading only
 * @queues: I/O connections, 0 for the default
 * @depth: requests in flight on each, 0 for the default
 * @deadline: when to give up, in jiffies
 */
struct rblk_clt_map_args {
	struct sockaddr_storage	server;
	char			export[RBLK_NAME_SIZE];
	char			client[RBLK_NAME_SIZE];
	bool			read_only;
	u32			queues;
	u32			depth;
	unsigned long		deadline;
};

/* main.c */
extern struct workqueue_struct *rblk_clt_wq;
extern struct workqueue_struct *rblk_clt_revoke_wq;

/* session.c */
extern struct mutex rblk_clt_lock;
extern u32 rblk_clt_changes;
extern struct list_head rblk_clt_sessions;
struct rblk_clt_session *rblk_clt_session_get(const struct rblk_clt_map_args *args,
					      struct netlink_ext_ack *extack);
int rblk_clt_session_setup(struct rblk_clt_session *session,
			   const struct rblk_clt_map_args *args,
			   struct netlink_ext_ack *extack);
void rblk_clt_sessions_stop(void);
void rblk_clt_session_unuse(struct rblk_clt_session *session);
void rblk_clt_session_put(struct rblk_clt_session *session);

/* path.c */
void rblk_clt_path_init(struct rblk_clt_path *path, struct rblk_clt_session *session, u32 index);
bool rblk_clt_path_state(struct rblk_clt_path *path, enum rblk_path_state to);
void rblk_clt_path_error(struct rblk_clt_path *path, int err, const char *what);
void rblk_clt_path_cause(struct rblk_clt_path *path, int *err, const char **what);
void rblk_clt_path_stop(struct rblk_clt_path *path, const char *what);
void rblk_clt_path_remove(struct rblk_clt_path *path);
void rblk_clt_path_teardown(struct rblk_clt_path *path);

/* connect.c */
int rblk_clt_path_connect(struct rblk_clt_path *path, unsigned long deadline, const char **what);
void rblk_clt_queue_mrs_free(struct rblk_clt_queue *queue);

/* control.c */
extern const struct rblk_conn_ops rblk_clt_control_ops;
int rblk_clt_ask(struct rblk_clt_path *path, struct rblk_msg *msg, struct rblk_msg *reply,
		 u32 *rkeys, bool interruptible, unsigned long deadline, const char **what);

/* device.c */
extern struct list_head rblk_clt_devices;
int rblk_clt_map(const struct rblk_clt_map_args *args, u32 *index,
		 struct netlink_ext_ack *extack);
int rblk_clt_unmap(u32 index, bool force, struct netlink_ext_ack *extack);
void rblk_clt_unmap_all(void);
void rblk_clt_device_close(struct rblk_clt_device *dev, unsigned long deadline);
struct rblk_clt_device *rblk_clt_device_find(u32 index);
void rblk_clt_device_reason(struct rblk_clt_device *dev, int *err, const char **what);

/* revoke.c */
int rblk_clt_revoked(struct rblk_clt_path *path, u32 handle);

/* io.c */
extern const struct blk_mq_ops rblk_clt_mq_ops;
unsigned int rblk_clt_cmd_size(const struct rblk_queue_plan *plan);
void rblk_clt_sweep(struct rblk_clt_path *path);

/* sysfs.c */
int rblk_clt_sysfs_create(struct rblk_clt_device *dev);
void rblk_clt_sysfs_free(struct rblk_clt_device *dev);

/* netlink.c */
int rblk_clt_netlink_init(void);
void rblk_clt_netlink_exit(void);
void rblk_clt_notify_device(struct rblk_clt_device *dev, u8 cmd);
void rblk_clt_notify_session(struct rblk_clt_session *session, u8 cmd);

#endif /* _RBLK_CLIENT_H */
