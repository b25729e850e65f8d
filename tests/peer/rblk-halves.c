// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions that stop at each step of the set-up, and stay there until their node
 * dies or they are killed: either side of rblk's wire format, over librdmacm.
 *
 *	rblk-halves client ADDR PORT EXPORT	to a real server: one for each step
 *	rblk-halves server ADDR PORT		for a real client: one server for each
 *						step, at PORT, PORT + 1, ...
 *
 * A client prints "at STEP" for each that is there, and then "all". A server prints
 * "listening" once all of it does, and "at STEP" when a client has come that far.
 */
#include <endian.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MAGIC		0x6b6c6272
#define VERSION		1
#define MSG_SIZE	4096
#define NAME_SIZE	64
#define QUEUES		2
#define DEPTH		16
#define RECEIVES	16

enum { KIND_CONTROL = 1, KIND_IO = 2 };
enum { HELLO = 1, READY = 2, OPEN = 3, EXTENTS = 4, REPLY = 0x8000 };

/* What is done when a session stops. Of the first the other side knows nothing yet. */
enum step {
	REQUESTED,
	CONTROL,
	GREETED,
	QUEUE_0,
	QUEUE_1,
	READY_SAID,
	OPENED,
	KEYS,
	STEPS
};

static const char *const step_names[STEPS] = {
	"requested", "control", "greeted", "queue-0", "queue-1", "ready", "opened", "keys",
};

/* Written from the protocol's description, not shared with the kernel. */
struct req {
	uint8_t cma[2];
	uint16_t version;
	uint32_t magic;
	uint8_t kind, reserved0;
	uint16_t queue, depth, path;
	uint8_t session[16];
	uint32_t generation, reserved1;
	uint64_t token;
} __attribute__((packed));

struct rep {
	uint32_t magic;
	uint16_t version, status, depth;
	uint8_t reserved[6];
} __attribute__((packed));

struct msg {
	uint16_t type, status;
	uint32_t len, tag, reserved;
	union {
		struct {
			uint64_t features, mandatory;
			char client[NAME_SIZE];
			uint16_t queues, depth;
			uint32_t reserved;
		} __attribute__((packed)) hello;
		struct {
			uint64_t features, mandatory;
			uint8_t server[16];
			uint64_t token;
			uint16_t queues, depth;
			uint32_t reserved;
		} __attribute__((packed)) hello_reply;
		struct {
			uint16_t queues;
			uint8_t reserved[6];
		} __attribute__((packed)) ready;
		struct {
			char export[NAME_SIZE];
			uint32_t flags, reserved;
		} __attribute__((packed)) open;
		struct {
			uint32_t handle, flags;
			uint64_t size;
			uint8_t incarnation[16];
			uint32_t block_size;
			uint8_t extent_shift, backing, reserved0[2];
			uint32_t extents, writer_epoch;
		} __attribute__((packed)) open_reply;
		struct {
			uint32_t handle, first;
		} __attribute__((packed)) extents;
	};
} __attribute__((packed));

#define HEADER	offsetof(struct msg, hello)

struct conn {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char *bufs;		/* RECEIVES of them, then one to send from */
	unsigned int received;
};

static const char *addr;
static int port;

static void die(const char *what)
{
	fprintf(stderr, "rblk-halves: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void at(enum step step)
{
	printf("at %s\n", step_names[step]);
}

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr) {
		.cap = { .max_send_wr = 8, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
}

/* Receives have to be there before the connection is. */
static void post_receives(struct conn *conn)
{
	unsigned int i;

	conn->bufs = calloc(RECEIVES + 1, MSG_SIZE);
	if (!conn->bufs)
		die("memory");
	conn->mr = rdma_reg_msgs(conn->id, conn->bufs, (RECEIVES + 1) * MSG_SIZE);
	if (!conn->mr)
		die("registration");
	for (i = 0; i < RECEIVES; i++)
		if (rdma_post_recv(conn->id, NULL, conn->bufs + i * MSG_SIZE, MSG_SIZE, conn->mr))
			die("receive");
}

/* Completions come in the order of the receives. */
static struct msg *receive(struct conn *conn)
{
	struct ibv_wc wc;

	if (rdma_get_recv_comp(conn->id, &wc) <= 0 || wc.status || conn->received == RECEIVES)
		return NULL;
	return (struct msg *)(conn->bufs + conn->received++ * MSG_SIZE);
}

static void send_msg(struct conn *conn, const struct msg *msg, size_t len)
{
	char *buf = conn->bufs + RECEIVES * MSG_SIZE;
	struct ibv_wc wc;

	memcpy(buf, msg, len);
	((struct msg *)buf)->len = htole32(len);
	if (rdma_post_send(conn->id, NULL, buf, len, conn->mr, 0) ||
	    rdma_get_send_comp(conn->id, &wc) <= 0 || wc.status)
		die("send");
}

/* The client */

static struct rdma_cm_id *resolved(struct rdma_event_channel *channel)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_cm_id *id;
	char service[8];

	snprintf(service, sizeof(service), "%d", port);
	if (rdma_getaddrinfo(addr, service, &hints, &found) || rdma_create_ep(&id, found, NULL, &attr))
		die("no path to the server");
	rdma_freeaddrinfo(found);
	/* On a channel that nobody reads the answer stays unread, and is not confirmed. */
	if (channel && rdma_migrate_id(id, channel))
		die("channel");
	return id;
}

static void connect_to(struct conn *conn, const uint8_t *session, int kind, int queue, uint64_t token,
		       struct rdma_event_channel *channel)
{
	struct req req = {
		.version = htole16(VERSION), .magic = htole32(MAGIC), .kind = kind, .queue = htole16(queue),
		.depth = htole16(DEPTH), .generation = htole32(1), .token = token,
	};
	struct rdma_conn_param param = {
		.private_data = &req, .private_data_len = sizeof(req),
		.responder_resources = 1, .initiator_depth = 4, .retry_count = 6, .rnr_retry_count = 6,
	};

	memcpy(req.session, session, sizeof(req.session));
	conn->id = resolved(channel);
	post_receives(conn);
	if (rdma_connect(conn->id, &param))
		die("connect");
}

static struct msg *ask(struct conn *conn, int type, struct msg *msg, size_t body)
{
	static uint32_t tag;
	struct msg *reply;

	msg->type = htole16(type);
	msg->tag = htole32(++tag);
	send_msg(conn, msg, HEADER + body);
	reply = receive(conn);
	if (!reply || le16toh(reply->type) != (type | REPLY) || reply->status)
		die("a reply");
	return reply;
}

static void client_until(int last, const char *export)
{
	struct rdma_event_channel *unread = NULL;
	struct conn control = { 0 }, io[QUEUES] = { 0 };
	struct msg msg = { 0 };
	uint8_t session[16];
	uint64_t token;
	int i;

	if (getentropy(session, sizeof(session)))
		die("random");
	if (last == REQUESTED) {
		unread = rdma_create_event_channel();
		if (!unread)
			die("channel");
	}
	connect_to(&control, session, KIND_CONTROL, 0, 0, unread);
	if (last <= CONTROL)
		return;
	snprintf(msg.hello.client, NAME_SIZE, "half-%s", step_names[last]);
	msg.hello.queues = htole16(QUEUES);
	msg.hello.depth = htole16(DEPTH);
	token = ask(&control, HELLO, &msg, sizeof(msg.hello))->hello_reply.token;
	for (i = 0; i < QUEUES; i++)
		if (last >= QUEUE_0 + i)
			connect_to(&io[i], session, KIND_IO, i, token, NULL);
	if (last < READY_SAID)
		return;
	msg = (struct msg){ .ready = { .queues = htole16(QUEUES) } };
	ask(&control, READY, &msg, sizeof(msg.ready));
	if (last < OPENED)
		return;
	msg = (struct msg){ 0 };
	strncpy(msg.open.export, export, NAME_SIZE - 1);
	i = ask(&control, OPEN, &msg, sizeof(msg.open))->open_reply.handle;
	if (last < KEYS)
		return;
	msg = (struct msg){ .extents = { .handle = i } };
	ask(&control, EXTENTS, &msg, sizeof(msg.extents));
}

static void client(const char *export)
{
	int step;

	for (step = REQUESTED; step < STEPS; step++) {
		client_until(step, export);
		at(step);
	}
	printf("all\n");
	pause();
}

/* The server */

static struct rdma_cm_id *listener(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP, .ai_flags = RAI_PASSIVE }, *found;
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_cm_id *id;
	char service[8];

	snprintf(service, sizeof(service), "%d", port);
	if (rdma_getaddrinfo(addr, service, &hints, &found) || rdma_create_ep(&id, found, NULL, &attr))
		die("no address to listen at");
	rdma_freeaddrinfo(found);
	if (rdma_listen(id, 4))
		die("listen");
	return id;
}

static void take(struct rdma_cm_id *listening, struct conn *conn, int accept)
{
	struct rep rep = { .magic = htole32(MAGIC), .version = htole16(VERSION), .depth = htole16(DEPTH) };
	struct rdma_conn_param param = {
		.private_data = &rep, .private_data_len = sizeof(rep),
		.responder_resources = 4, .initiator_depth = 1, .retry_count = 6, .rnr_retry_count = 6,
	};

	if (rdma_get_request(listening, &conn->id))
		die("request");
	if (!accept)
		return;
	post_receives(conn);
	if (rdma_accept(conn->id, &param))
		die("accept");
}

/* The next question has come; answer it unless this is where it ends, and then return NULL. */
static struct msg *answer(struct conn *control, struct msg *reply, size_t body, int stop)
{
	struct msg *asked = receive(control);

	if (!asked)
		die("question");
	if (stop)
		return NULL;
	reply->type = asked->type | htole16(REPLY);
	reply->tag = asked->tag;
	send_msg(control, reply, HEADER + body);
	return asked;
}

static void serve_until(struct rdma_cm_id *listening, int last)
{
	struct conn control = { 0 }, io[QUEUES] = { 0 };
	struct msg reply = {
		.hello_reply = { .server = { 1 }, .token = 1, .queues = htole16(QUEUES), .depth = htole16(DEPTH) },
	};
	struct msg *asked;
	int i, queues;

	take(listening, &control, last > REQUESTED);
	if (last == REQUESTED)
		return;
	asked = answer(&control, &reply, sizeof(reply.hello_reply), last == CONTROL);
	if (!asked)
		return;
	/* A client with one CPU wants one queue: then all of them are up a step earlier. */
	queues = le16toh(asked->hello.queues) < QUEUES ? le16toh(asked->hello.queues) : QUEUES;
	for (i = 0; i < queues; i++) {
		take(listening, &io[i], last >= QUEUE_0 + i);
		if (last < QUEUE_0 + i)
			return;
	}
	reply = (struct msg){ 0 };
	if (!answer(&control, &reply, 0, last <= QUEUE_1))
		return;
	reply.open_reply.handle = htole32(1);
	reply.open_reply.size = htole64(1 << 21);
	reply.open_reply.incarnation[0] = 1;
	reply.open_reply.block_size = htole32(512);
	reply.open_reply.extent_shift = 21;
	reply.open_reply.backing = 1;
	reply.open_reply.extents = htole32(1);
	if (!answer(&control, &reply, sizeof(reply.open_reply), last == READY_SAID))
		return;
	answer(&control, &reply, 0, 1);
}

static void serve(int step, int ready)
{
	struct rdma_cm_id *listening;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	listening = listener();
	if (write(ready, "", 1) != 1)
		die("pipe");
	serve_until(listening, step);
	at(step);
	for (;;)
		pause();
}

/* The last step of a server is that it was asked for keys, and did not answer. */
static void server(void)
{
	int step, ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		die("pipe");
	for (step = REQUESTED; step <= OPENED; step++, port++) {
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			serve(step, ready[1]);
	}
	for (step = REQUESTED; step <= OPENED; step++)
		if (read(ready[0], &byte, 1) != 1)
			die("a server of the steps");
	printf("listening\n");
	pause();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 4) {
		addr = argv[2];
		port = atoi(argv[3]);
		if (argc == 5 && !strcmp(argv[1], "client"))
			client(argv[4]);
		else if (argc == 4 && !strcmp(argv[1], "server"))
			server();
	}
	fprintf(stderr, "rblk-halves client ADDR PORT EXPORT | server ADDR PORT\n");
	return 1;
}
