/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server's objects.
 *
 *   export    memory or a disk under a name
 *   listener  an address where clients connect
 *   session   one client; what it has open
 *     path    one pair of addresses: PD, control connection, I/O connections, and
 *             a registration of each open export; disk connections, if a disk was opened
 *
 * Locks, outermost first; what each protects:
 *
 *   path->lock      (mutex)    the path's objects: device, PD, connections,
 *                              registrations. Taken by the works of the path, one
 *                              at a time; no callback takes it.
 *   rblk_srv_lock   (mutex)    exports, listeners, sessions, paths: lists, names,
 *                              who has what open. Never held while something waits
 *                              for a peer.
 *   rblk_srv_state  (spinlock) state of the paths; any context
 *   queue->lock     (spinlock) of a disk connection: its slots; any context
 *
 * A path ends in this order: state (nothing new begins), works cancelled,
 * connections cut, what disks have of it waited for, registrations given back, opens, PD; then
 * what waits for the CM, and the device. An export holds a
 * reference on each block of its memory, and so does each registration that covers it: no
 * block is freed while a queue pair or a key could reach it.
 */
#ifndef _RBLK_SERVER_H
#define _RBLK_SERVER_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/socket.h>
#include <linux/uuid.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rblk/addr.h>
#include <rblk/conn.h>
#include <rblk/dev.h>
#include <rblk/limits.h>
#include <rblk/mr.h>
#include <rblk/ring.h>
#include <rblk/wire.h>

#define RBLK_SRV_ALLOW_MAX	64	/* clients an export names */
#define RBLK_SRV_BAD_ANY	U32_MAX	/* not one of them, but that all may open it */
#define RBLK_SRV_EXPORTS_MAX	1024
#define RBLK_SRV_LISTENERS_MAX	64
#define RBLK_SRV_PATHS_MAX	1024
#define RBLK_SRV_OPENS_MAX	256	/* of one path */
#define RBLK_SRV_PENDING_MAX	128	/* connect requests not looked at yet */
#define RBLK_SRV_BUILD_TIMEOUT	(30 * HZ)	/* for a path to be ready */
#define RBLK_SRV_PING_PERIOD	(5 * HZ)
#define RBLK_SRV_PING_AGAIN	HZ	/* if its path was busy */
/* A device may keep so much for each page that a path has registered, bytes. */
#define RBLK_SRV_MR_ENTRY	16
/* What opens leave of the memory, one in so many: less than exports do, which fill it first. */
#define RBLK_SRV_OPEN_RESERVE	128
#define RBLK_SRV_SILENCE	6	/* pings, of a client that answers them */
#define RBLK_SRV_REVOKE_TIMEOUT	(5 * HZ)	/* for a client to close what is withdrawn */
#define RBLK_SRV_STEAL_GRACE	(3 * HZ)	/* the same, if another client waits for it */
#define RBLK_SRV_STEAL_TIMEOUT	(6 * HZ)	/* in all: less than it waits for a reply */
#define RBLK_SRV_FENCE_TIMEOUT	(2 * HZ)	/* for a path to end; the client asks again */
#define RBLK_SRV_TELL_TRIES	50	/* for a client to take messages, 20 ms each */
#define RBLK_SRV_SHRINK_TIMEOUT	(5 * HZ)	/* for a client to give up what is to go */
#define RBLK_SRV_SHRINK_TELL	(15 * HZ)	/* until it is told so at the latest */
#define RBLK_SRV_KICK_TIMEOUT	(20 * HZ)	/* for all paths of a session to end */
#define RBLK_SRV_DISK_ALIGN	512	/* bytes: of all that is asked of a disk */

struct rblk_srv_path;
struct rblk_srv_slot;

/**
 * struct rblk_srv_memory - blocks of memory
 * @nr_blocks: how many
 * @blocks: first page of each, 1 << RBLK_BLOCK_SHIFT bytes
 */
struct rblk_srv_memory {
	u32			nr_blocks;
	struct page		**blocks;
};

/**
 * struct rblk_srv_disk - a block device behind an export
 * @export: the export
 * @path: of its node, as it was asked for
 * @file: it, open
 * @bdev: the same
 * @wq: runs what its requests need; none waits for another disk
 * @failed: it is gone, for good
 * @dead_work: says so
 */
struct rblk_srv_disk {
	struct rblk_srv_export	*export;
	char			*path;
	struct file		*file;
	struct block_device	*bdev;
	struct workqueue_struct	*wq;
	bool			failed;
	struct work_struct	dead_work;
};

/**
 * struct rblk_srv_export - memory or a disk under a name
 * @ref: one for the list, one for each open of a path
 * @entry: in the list of exports; empty once it is removed
 * @name: its name
 * @size: bytes; it, @incarnation and @memory change together, under rblk_srv_lock
 * @numa_node: where the memory was asked for, or NUMA_NO_NODE
 * @incarnation: identity of the content; another one once some of it was cut off
 * @shared: several sessions may have it open for writing
 * @read_only: no session may write
 * @allow_any: every client may open it
 * @nr_allow: clients named
 * @allow: their names
 * @readers: sessions that have it open for reading only
 * @writers: sessions that have it open for writing
 * @thief: session that takes it over just now, or NULL
 * @last_writer: session that opened it for writing last
 * @writer_epoch: counts how often that was another one than before, from a random number on
 * @resizing: somebody is at it
 * @memory: its memory
 * @disk: the disk behind it instead, or NULL
 */
struct rblk_srv_export {
	struct kref		ref;
	struct list_head	entry;
	char			name[RBLK_NAME_SIZE];
	u64			size;
	int			numa_node;
	uuid_t			incarnation;
	bool			shared;
	bool			read_only;
	bool			allow_any;
	u32			nr_allow;
	char			(*allow)[RBLK_NAME_SIZE];
	u32			readers;
	u32			writers;
	struct rblk_srv_session	*thief;
	uuid_t			last_writer;
	u32			writer_epoch;
	bool			resizing;
	struct rblk_srv_memory	memory;
	struct rblk_srv_disk	*disk;
};

/**
 * struct rblk_srv_export_args - what export-add was asked; export-allow and export-unallow
 *	have a name and clients only
 * @name: name of the export
 * @size: bytes; 0 with @device
 * @numa_node: where the memory should lie, or NUMA_NO_NODE
 * @device: path of a block device to export, or NULL for memory
 * @id: identity of that; null for a random one
 * @shared: several sessions may have it open for writing
 * @read_only: no session may write
 * @allow_any: every client may open it
 * @nr_allow: clients named
 * @allow: their names, which the export takes over if it is added
 * @bad: number of the client that a refusal is about, or RBLK_SRV_BAD_ANY
 */
struct rblk_srv_export_args {
	char	name[RBLK_NAME_SIZE];
	u64	size;
	int	numa_node;
	char	*device;
	uuid_t	id;
	bool	shared;
	bool	read_only;
	bool	allow_any;
	u32	nr_allow;
	char	(*allow)[RBLK_NAME_SIZE];
	u32	bad;
};

/**
 * struct rblk_srv_extent - an extent that a path has registered
 * @mr: the registration
 * @entry: in the list of those that were replaced
 */
struct rblk_srv_extent {
	struct rblk_mr		mr;
	struct list_head	entry;
};

/**
 * struct rblk_srv_open - an export that a path has open
 * @entry: in the path's list
 * @export: the export
 * @handle: its name on this path
 * @read_only: for reading only
 * @withdrawn: the client has to close it; this and the next three under rblk_srv_lock
 * @reason: why
 * @close_by: when the path is lost if it has not, in jiffies
 * @revoked: the client was told
 * @resize: its client does not have the size of now; this and the next five under
 *	rblk_srv_lock
 * @resize_told: it was told
 * @shrink: it has to give up something
 * @resize_by: when the path is lost if it has not, in jiffies
 * @resize_at: when to tell it, in jiffies
 * @resize_pause: until the next attempt, if what is new could not be registered, in jiffies
 * @plan: how it is registered
 * @size: bytes of it, as the client was told
 * @incarnation: as the client was told
 * @nr_extents: that are registered; until the client has given them up also those beyond @size
 * @extents: a registration of each
 * @replaced: others, of which the client may still use the keys
 * @requests: of a disk: how many are not answered yet
 * @limits: of a disk: as the client was told
 */
struct rblk_srv_open {
	struct list_head	entry;
	struct rblk_srv_export	*export;
	u32			handle;
	bool			read_only;
	bool			withdrawn;
	enum rblk_status	reason;
	unsigned long		close_by;
	bool			revoked;
	bool			resize;
	bool			resize_told;
	bool			shrink;
	unsigned long		resize_by;
	unsigned long		resize_at;
	unsigned long		resize_pause;
	struct rblk_export_plan	plan;
	u64			size;
	uuid_t			incarnation;
	u32			nr_extents;
	struct rblk_srv_extent	**extents;
	struct list_head	replaced;
	atomic_t		requests;
	struct rblk_msg_limits_reply limits;
};

/* Of an export of SIZE bytes, as it is cut for an open. */
static inline u32 rblk_srv_nr_extents(const struct rblk_srv_open *open, u64 size)
{
	return ((size - 1) >> open->plan.extent_shift) + 1;
}

/**
 * struct rblk_srv_withdraw - opens that clients have to give up
 * @export: of this export
 * @reason: RBLK_OK, it was removed: all of them. RBLK_DENIED: those of clients that its
 *	access list does not let in. RBLK_BUSY: those for writing, but for the session of @path
 * @resize: instead, those that do not have the size of now; they only have to take it over
 * @shrink: of these those that have to give up something
 * @grace: how long clients have to close them, in jiffies
 * @path: on which somebody waits for it, which then ends if the path does; or NULL
 */
struct rblk_srv_withdraw {
	struct rblk_srv_export	*export;
	enum rblk_status	reason;
	bool			resize;
	bool			shrink;
	unsigned long		grace;
	struct rblk_srv_path	*path;
};

/**
 * struct rblk_srv_session - one client
 * @entry: in the list of sessions
 * @id: made by the client
 * @client: what the client calls itself
 * @paths: its paths
 * @fenced: for each path, the generation up to which none is accepted
 */
struct rblk_srv_session {
	struct list_head	entry;
	uuid_t			id;
	char			client[RBLK_NAME_SIZE];
	struct list_head	paths;
	u32			fenced[RBLK_PATHS_MAX];
};

/* Life of a path at the server. */
enum rblk_srv_path_state {
	RBLK_SRV_BUILDING,	/* the control connection is there, the rest is not */
	RBLK_SRV_READY,		/* the client said that all connections are up */
	RBLK_SRV_ENDING,	/* being torn down, for good */
};

/* struct rblk_srv_path @flags */
enum {
	RBLK_SRV_PATH_REPLACED,	/* a newer attempt waits for its end */
	RBLK_SRV_PATH_JOINING,	/* a disk connection waits to be let in */
};

/**
 * struct rblk_srv_queue - an I/O connection at the server
 * @conn: the connection
 * @path: its path
 */
struct rblk_srv_queue {
	struct rblk_conn	conn;
	struct rblk_srv_path	*path;
};

/**
 * struct rblk_srv_disk_queue - a disk connection at the server
 * @conn: the connection
 * @path: its path
 * @depth: requests in flight
 * @port: of the device
 * @max_order: of the pieces of memory
 * @requests: what the client sends
 * @responses: what it gets
 * @slots: one for each tag
 * @lock: protects the fields below, and the step of each slot; taken in any context
 * @closed: nothing is begun on the connection any more
 * @busy: slots in use
 * @idle: woken when the last one is not any more
 * @pages: how many the requests may take
 * @pages_wait: slots that wait for some
 * @wrs: work requests left for transfers
 * @wrs_all: of so many
 * @wrs_wait: slots that wait for some
 * @free: numbers of the responses that are not on their way
 * @nr_free: how many
 * @free_wait: slots that wait for one
 */
struct rblk_srv_disk_queue {
	struct rblk_conn		conn;
	struct rblk_srv_path		*path;
	u32				depth;
	u32				port;
	u32				max_order;
	struct rblk_ring		requests;
	struct rblk_ring		responses;
	struct rblk_srv_slot		*slots;

	spinlock_t			lock;		/* protects the fields below */
	bool				closed;
	u32				busy;
	wait_queue_head_t		idle;
	u32				pages;
	struct list_head		pages_wait;
	u32				wrs;
	u32				wrs_all;
	struct list_head		wrs_wait;
	u16				*free;
	u32				nr_free;
	struct list_head		free_wait;
};

/**
 * struct rblk_srv_path - one way from a client
 * @ref: one for the list, one for who works on it
 * @entry: in the list of paths
 * @session_entry: in its session's list, once it said hello
 * @session: its session, NULL before hello
 * @session_id: id the client gave
 * @index: number of the path in the session
 * @generation: which attempt of the client it is
 * @newest: the greatest that asked to take its place
 * @token: what an I/O connection must show
 * @build_by: when it is reaped if it is not ready, in jiffies
 * @unheard: pings since the last message came
 * @state: changed by rblk_srv_path_state() only
 * @flags: see above
 * @lock: protects the objects below
 * @dev_user: it as a user of @dev
 * @dev: its device
 * @pd: its protection domain
 * @control: its control connection
 * @depth: requests in flight on an I/O connection
 * @nr_queues: I/O connections allowed, 0 before hello
 * @nr_up: how many are up
 * @queues: the I/O connections
 * @disk_queues: the disk connections, @nr_queues at the most; NULL before the first one
 * @disks: its open disks, by their handles
 * @opens: exports it has open
 * @nr_opens: how many
 * @next_handle: for the next open
 * @rx_lock: protects @rx and @rx_closed
 * @rx: messages that wait
 * @rx_closed: none is taken any more
 * @tell: an open of it was withdrawn, or has another size; for @rx_work
 * @rx_work: works them off
 * @ping_work: reaps the path if it is not ready in time, then asks now and then
 *	whether the client's device is there
 * @end_work: ends what its client can reach
 * @ended: completed when that is done
 * @rest_work: tears down what is left of it then
 * @client: address of the client
 * @local: address of this node
 * @rdma_device: name of @dev
 */
struct rblk_srv_path {
	struct kref			ref;
	struct list_head		entry;
	struct list_head		session_entry;
	struct rblk_srv_session		*session;
	uuid_t				session_id;
	u16				index;
	u32				generation;
	u32				newest;
	u64				token;
	unsigned long			build_by;
	u32				unheard;
	enum rblk_srv_path_state	state;
	unsigned long			flags;

	struct mutex			lock;		/* protects the objects below */
	struct rblk_dev_user		dev_user;
	struct rblk_dev			*dev;
	struct ib_pd			*pd;
	struct rblk_conn		control;
	u32				depth;
	u32				nr_queues;
	u32				nr_up;
	struct rblk_srv_queue		*queues;
	struct rblk_srv_disk_queue	*disk_queues;
	struct xarray			disks;
	struct list_head		opens;
	u32				nr_opens;
	u32				next_handle;

	spinlock_t			rx_lock;	/* protects the next two */
	struct list_head		rx;
	bool				rx_closed;
	bool				tell;
	struct work_struct		rx_work;
	struct delayed_work		ping_work;
	struct work_struct		end_work;
	struct completion		ended;
	struct work_struct		rest_work;
	struct sockaddr_storage		client;
	struct sockaddr_storage		local;
	char				rdma_device[IB_DEVICE_NAME_MAX];
};

/**
 * struct rblk_srv_pending - a connect request that waits for a thread
 * @work: deals with it
 * @id: its CM id
 * @req: what the client said
 * @resp_rd: RDMA READs in flight it asks for
 * @init_rd: of this side, that it offers
 * @status: why to reject it without a further look, or RBLK_OK
 */
struct rblk_srv_pending {
	struct work_struct	work;
	struct rdma_cm_id	*id;
	struct rblk_req		req;
	u32			resp_rd;
	u32			init_rd;
	enum rblk_status	status;
};

/* main.c */
extern struct workqueue_struct *rblk_srv_wq;
extern struct workqueue_struct *rblk_srv_listen_wq;
extern struct workqueue_struct *rblk_srv_end_wq;
extern struct workqueue_struct *rblk_srv_rest_wq;
extern uuid_t rblk_srv_id;
extern struct mutex rblk_srv_lock;
extern u32 rblk_srv_changes;

/* memory.c */
int rblk_srv_memory_alloc(struct rblk_srv_memory *memory, u64 size, int numa_node,
			  const char **what);
void rblk_srv_memory_free(struct rblk_srv_memory *memory);
bool rblk_srv_memory_left(u64 size, u32 share);

/* export.c */
extern struct list_head rblk_srv_exports;
int rblk_srv_export_add(struct rblk_srv_export_args *args, struct netlink_ext_ack *extack);
int rblk_srv_export_remove(const char *name, bool force, struct netlink_ext_ack *extack);
void rblk_srv_export_remove_all(void);
struct rblk_srv_export *rblk_srv_export_find(const char *name);
enum rblk_status rblk_srv_export_use(const struct rblk_msg_open *msg, struct rblk_srv_path *path,
				     struct rblk_srv_open *open);
u32 rblk_srv_export_written(struct rblk_srv_open *open, const struct rblk_srv_path *path);
void rblk_srv_export_unuse(struct rblk_srv_open *open, const struct rblk_srv_path *path);
void rblk_srv_export_put(struct rblk_srv_export *export);

/* access.c */
bool rblk_srv_client_allowed(const struct rblk_srv_export *export, const char *client);
int rblk_srv_export_allow(const struct rblk_srv_export_args *args, struct netlink_ext_ack *extack);
int rblk_srv_export_unallow(struct rblk_srv_export_args *args, struct netlink_ext_ack *extack);

/* withdraw.c */
enum rblk_status rblk_srv_steal(const struct rblk_msg_open *msg, struct rblk_srv_path *path,
				struct rblk_srv_open *open);
void rblk_srv_withdraw_closed(void);
void rblk_srv_path_tell(struct rblk_srv_path *path);
void rblk_srv_withdraw_begin(const struct rblk_srv_withdraw *what);
bool rblk_srv_withdraw_wait(const struct rblk_srv_withdraw *what, unsigned long deadline);

/* disk.c */
int rblk_srv_disk_open(struct rblk_srv_export *export, struct rblk_srv_export_args *args,
		       const char **what);
void rblk_srv_disk_close(struct rblk_srv_export *export);
void rblk_srv_disk_limits(const struct rblk_srv_disk *disk, struct rblk_msg_limits_reply *reply);

/* disk_conn.c */
enum rblk_status rblk_srv_disk_queue_setup(struct rblk_srv_path *path,
					   struct rblk_srv_pending *pending);
void rblk_srv_disk_queues_cut(struct rblk_srv_path *path);
void rblk_srv_disk_queues_idle(struct rblk_srv_path *path);
void rblk_srv_disk_queues_destroy(struct rblk_srv_path *path);

/* disk_io.c */
extern const struct rblk_conn_ops rblk_srv_disk_queue_ops;
int rblk_srv_slots_create(struct rblk_srv_disk_queue *queue);
void rblk_srv_slots_close(struct rblk_srv_disk_queue *queue);
void rblk_srv_slots_sync(void);
void rblk_srv_slots_lose(struct rblk_srv_disk_queue *queue);
void rblk_srv_slots_destroy(struct rblk_srv_disk_queue *queue);

/* listener.c */
int rblk_srv_listen_add(const struct sockaddr_storage *addr, struct netlink_ext_ack *extack);
int rblk_srv_listen_remove(const struct sockaddr_storage *addr, struct netlink_ext_ack *extack);
void rblk_srv_listen_remove_all(void);
int rblk_srv_listen_init(void);
void rblk_srv_listen_exit(void);

struct rblk_srv_listener_info {
	struct sockaddr_storage	addr;
	bool			listening;
	char			rdma_device[IB_DEVICE_NAME_MAX];
	const char		*error;
};

bool rblk_srv_listener_info(u32 index, struct rblk_srv_listener_info *info);

/* accept.c */
int rblk_srv_connect_request(struct rdma_cm_id *id, const struct rdma_cm_event *ev);

/* path.c */
extern struct list_head rblk_srv_paths;
extern spinlock_t rblk_srv_state;
struct rblk_srv_path *rblk_srv_path_create(const struct rblk_req *req);
struct rblk_srv_path *rblk_srv_path_find(const uuid_t *session, u16 index);
bool rblk_srv_path_state(struct rblk_srv_path *path, enum rblk_srv_path_state to);
void rblk_srv_path_error(struct rblk_srv_path *path, int err, const char *what);
void rblk_srv_path_dev_removed(struct rblk_dev_user *user);
void rblk_srv_path_end(struct rblk_srv_path *path);
void rblk_srv_path_put(struct rblk_srv_path *path);
void rblk_srv_paths_stop(void);
void rblk_srv_path_end_all(void);

/* session.c */
extern struct list_head rblk_srv_sessions;
enum rblk_status rblk_srv_session_join(struct rblk_srv_path *path, const char *client);
void rblk_srv_session_leave(struct rblk_srv_path *path);
bool rblk_srv_fenced(const struct rblk_req *req);
enum rblk_status rblk_srv_fence(struct rblk_srv_path *path, const struct rblk_msg_fence *fence);
int rblk_srv_session_kick(const uuid_t *id, struct netlink_ext_ack *extack);

/* control.c */
extern const struct rblk_conn_ops rblk_srv_control_ops;
void rblk_srv_rx_work(struct work_struct *work);

/* open.c */
enum rblk_status rblk_srv_open(struct rblk_srv_path *path, const struct rblk_msg_open *msg,
			       struct rblk_msg_open_reply *reply);
enum rblk_status rblk_srv_close(struct rblk_srv_path *path, u32 handle);
struct rblk_srv_open *rblk_srv_open_find(struct rblk_srv_path *path, u32 handle);
void rblk_srv_close_all(struct rblk_srv_path *path);
u32 rblk_srv_block_size(const struct rblk_srv_export *export);
enum rblk_status rblk_srv_limits(struct rblk_srv_path *path, const struct rblk_msg_limits *msg,
				 struct rblk_msg_limits_reply *reply);
int rblk_srv_tell(struct rblk_srv_path *path, const struct rblk_msg *msg, int *tries);
int rblk_srv_revoke(struct rblk_srv_path *path);
int rblk_srv_extent_register(struct rblk_srv_path *path, struct rblk_srv_open *open, u64 size,
			     u32 index, struct rblk_srv_extent **extent);
bool rblk_srv_extent_release(struct rblk_srv_path *path, struct rblk_srv_extent *extent);
bool rblk_srv_replaced_release(struct rblk_srv_path *path, struct rblk_srv_open *open);

/* resize.c */
int rblk_srv_export_resize(const char *name, u64 size, bool force, bool *about_size,
			   struct netlink_ext_ack *extack);
int rblk_srv_resize_opens(struct rblk_srv_path *path);
void rblk_srv_resize_again(struct rblk_srv_path *path);
enum rblk_status rblk_srv_resized(struct rblk_srv_path *path, const struct rblk_msg_resize *msg);

/* netlink.c */
int rblk_srv_netlink_init(void);
void rblk_srv_netlink_exit(void);

/* netlink_fill.c */
void rblk_srv_notify_export(struct rblk_srv_export *export, u8 cmd);
void rblk_srv_notify_session(struct rblk_srv_session *session, u8 cmd);
void rblk_srv_notify_listener(const struct rblk_srv_listener_info *info);

#endif /* _RBLK_SERVER_H */
