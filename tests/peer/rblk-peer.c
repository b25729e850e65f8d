// SPDX-License-Identifier: GPL-2.0
/*
 * A client of rblk's wire format that does what the real one never would, from
 * user space over librdmacm. The scenarios run it to see what a server does
 * about it.
 *
 *	rblk-peer SERVER PORT connect VERSION MAGIC	one control connection
 *	rblk-peer SERVER PORT token			an I/O connection without the token
 *	rblk-peer SERVER PORT write-read-only EXPORT	a WRITE through a read-only open
 *	rblk-peer SERVER PORT message FILE		these bytes as the first message
 *
 * Prints one line for each thing that happened. Exit code 0: all of it ran,
 * whatever the answers were; 1: it could not be tried.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC		0x6b6c6272
#define VERSION		1
#define MSG_SIZE	4096
#define NAME_SIZE	64
#define IO_SIZE		4096
#define TIME_LIMIT	30	/* seconds for everything */

enum { KIND_CONTROL = 1, KIND_IO = 2 };
enum { HELLO = 1, READY = 2, OPEN = 3, EXTENTS = 4, REPLY = 0x8000 };
enum { OPEN_READ_ONLY = 1 };

/* Written from the protocol's description, not shared with the kernel: a slip in either shows. */
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

struct hdr {
	uint16_t type, status;
	uint32_t len, tag, reserved;
} __attribute__((packed));

struct hello {
	uint64_t features, mandatory;
	char client[NAME_SIZE];
	uint16_t queues, depth;
	uint32_t reserved;
} __attribute__((packed));

struct hello_reply {
	uint64_t features, mandatory;
	uint8_t server[16];
	uint64_t token;
	uint16_t queues, depth;
	uint32_t reserved;
} __attribute__((packed));

struct ready {
	uint16_t queues;
	uint8_t reserved[6];
} __attribute__((packed));

struct open {
	char export[NAME_SIZE];
	uint32_t flags, reserved;
} __attribute__((packed));

struct open_reply {
	uint32_t handle, flags;
	uint64_t size;
	uint8_t incarnation[16];
	uint32_t block_size;
	uint8_t extent_shift, backing, reserved0[2];
	uint32_t extents, reserved1;
} __attribute__((packed));

struct extents {
	uint32_t handle, first;
} __attribute__((packed));

struct extents_reply {
	uint32_t handle, first, count, reserved, rkeys[];
} __attribute__((packed));

struct conn {
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char *out, *in;		/* MSG_SIZE each */
};

static const char *server, *port;
static uint8_t session[16];

static void die(const char *what)
{
	fprintf(stderr, "rblk-peer: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct rdma_cm_id *new_id(void)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *found;
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id;

	if (rdma_getaddrinfo(server, port, &hints, &found))
		die("address");
	if (rdma_create_ep(&id, found, NULL, &attr))
		die("no path to the server");
	rdma_freeaddrinfo(found);
	return id;
}

/* Connect; prints what came of it. Returns 0 if the server accepted. */
static int connect_to(struct conn *conn, const char *what, const struct req *req)
{
	struct rdma_conn_param param = {
		.private_data = req, .private_data_len = sizeof(*req),
		.responder_resources = 4, .initiator_depth = 4, .retry_count = 7, .rnr_retry_count = 7,
	};
	const struct rdma_conn_param *answer;
	struct rep rep = { 0 };

	conn->id = new_id();
	conn->out = calloc(2, MSG_SIZE);
	if (!conn->out)
		die("memory");
	conn->in = conn->out + MSG_SIZE;
	conn->mr = ibv_reg_mr(conn->id->pd, conn->out, 2 * MSG_SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!conn->mr || rdma_post_recv(conn->id, NULL, conn->in, MSG_SIZE, conn->mr))
		die("receive buffer");

	if (!rdma_connect(conn->id, &param)) {
		printf("%s accepted\n", what);
		return 0;
	}
	answer = conn->id->event ? &conn->id->event->param.conn : NULL;
	if (answer && answer->private_data && answer->private_data_len >= sizeof(rep))
		memcpy(&rep, answer->private_data, sizeof(rep));
	if (!conn->id->event || conn->id->event->event != RDMA_CM_EVENT_REJECTED)
		die(what);
	printf("%s rejected reason %d magic %s version %u status %u\n", what, conn->id->event->status,
	       le32toh(rep.magic) == MAGIC ? "good" : "none", le16toh(rep.version), le16toh(rep.status));
	return -1;
}

static struct req new_req(int kind, uint64_t token)
{
	struct req req = {
		.version = htole16(VERSION), .magic = htole32(MAGIC), .kind = kind, .depth = htole16(16),
		.generation = htole32(1), .token = htole64(token),
	};

	memcpy(req.session, session, sizeof(session));
	return req;
}

/*
 * Wait for a completion, or for the end of the connection: that one comes as an
 * event, the QP of user space does not notice it by itself. A send may never be
 * acknowledged, if the server destroys its QP between receiving and that.
 */
static int completion(struct conn *conn, struct ibv_cq *cq, struct ibv_wc *wc)
{
	struct pollfd event = { .fd = conn->id->channel->fd, .events = POLLIN };
	int got;

	for (;;) {
		got = ibv_poll_cq(cq, 1, wc);
		if (got < 0)
			die("completion queue");
		if (got)
			return wc->status ? -1 : 0;
		if (poll(&event, 1, 2) > 0)
			return -1;
	}
}

/* Send a request with a body and wait for its reply; the reply's body, or NULL for a refusal. */
static void *ask(struct conn *conn, int type, const void *body, size_t len)
{
	static uint32_t tag;
	struct hdr *out = (struct hdr *)conn->out, *in = (struct hdr *)conn->in;
	struct ibv_wc wc;

	*out = (struct hdr){ .type = htole16(type), .len = htole32(sizeof(*out) + len), .tag = htole32(++tag) };
	memcpy(out + 1, body, len);
	if (rdma_post_send(conn->id, NULL, conn->out, sizeof(*out) + len, conn->mr, 0))
		die("send");
	if (completion(conn, conn->id->send_cq, &wc) || completion(conn, conn->id->recv_cq, &wc)) {
		printf("message %d closed\n", type);
		return NULL;
	}
	printf("message %d reply %#x status %u\n", type, le16toh(in->type), le16toh(in->status));
	if (le16toh(in->type) != (type | REPLY) || in->status)
		return NULL;
	/* The body is read before the next question overwrites it; the next receive has a place of its own. */
	memcpy(conn->out, conn->in, MSG_SIZE);
	if (rdma_post_recv(conn->id, NULL, conn->in, MSG_SIZE, conn->mr))
		die("receive buffer");
	return conn->out + sizeof(*in);
}

static uint64_t say_hello(struct conn *control)
{
	struct hello hello = { .queues = htole16(1), .depth = htole16(16) };
	struct hello_reply *reply;

	gethostname(hello.client, NAME_SIZE - 1);
	reply = ask(control, HELLO, &hello, sizeof(hello));
	if (!reply)
		exit(1);
	return le64toh(reply->token);
}

static void one_sided(struct conn *io, const char *what, int write, uint32_t rkey)
{
	struct ibv_wc wc = { .status = -1 };
	int ret;

	if (write)
		ret = rdma_post_write(io->id, NULL, io->out, IO_SIZE, io->mr, 0, 0, rkey);
	else
		ret = rdma_post_read(io->id, NULL, io->out, IO_SIZE, io->mr, 0, 0, rkey);
	if (ret || rdma_get_send_comp(io->id, &wc) <= 0)
		die(what);
	printf("%s: %s\n", what, ibv_wc_status_str(wc.status));
}

static void write_read_only(const char *name)
{
	struct ready ready = { .queues = htole16(1) };
	struct open open = { .flags = htole32(OPEN_READ_ONLY) };
	struct open_reply *opened;
	struct extents want = { 0 };
	struct extents_reply *keys;
	struct conn control, io;
	struct req req = new_req(KIND_CONTROL, 0);
	uint32_t rkey;

	if (connect_to(&control, "control", &req))
		exit(1);
	req = new_req(KIND_IO, say_hello(&control));
	if (connect_to(&io, "io", &req) || !ask(&control, READY, &ready, sizeof(ready)))
		exit(1);
	strncpy(open.export, name, NAME_SIZE - 1);
	opened = ask(&control, OPEN, &open, sizeof(open));
	if (!opened)
		exit(1);
	want.handle = opened->handle;
	keys = ask(&control, EXTENTS, &want, sizeof(want));
	if (!keys || !keys->count)
		exit(1);
	rkey = le32toh(keys->rkeys[0]);
	one_sided(&io, "read", 0, rkey);
	memset(io.out, 0xee, IO_SIZE);
	one_sided(&io, "write", 1, rkey);
}

static void wrong_token(void)
{
	struct req req = new_req(KIND_CONTROL, 0);
	struct conn control, io;

	if (connect_to(&control, "control", &req))
		exit(1);
	req = new_req(KIND_IO, say_hello(&control) ^ 1);
	connect_to(&io, "io", &req);
}

/* The bytes of FILE as the first message of a good connection. */
static void first_message(const char *path)
{
	struct req req = new_req(KIND_CONTROL, 0);
	struct conn control;
	struct ibv_wc wc;
	size_t len;
	FILE *file = fopen(path, "rb");

	if (!file)
		die(path);
	if (connect_to(&control, "control", &req))
		exit(1);
	len = fread(control.out, 1, MSG_SIZE, file);
	fclose(file);
	if (rdma_post_send(control.id, NULL, control.out, len, control.mr, 0))
		die("send");
	if (completion(&control, control.id->send_cq, &wc) || completion(&control, control.id->recv_cq, &wc))
		printf("closed\n");
	else
		printf("reply %u bytes type %#x status %u\n", wc.byte_len, le16toh(((struct hdr *)control.in)->type),
		       le16toh(((struct hdr *)control.in)->status));
}

int main(int argc, char **argv)
{
	struct req req;
	struct conn conn;
	FILE *random = fopen("/dev/urandom", "rb");

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4) {
		fprintf(stderr, "rblk-peer SERVER PORT connect|token|write-read-only|message ...\n");
		return 1;
	}
	if (!random || fread(session, sizeof(session), 1, random) != 1)
		die("/dev/urandom");
	alarm(TIME_LIMIT);
	server = argv[1];
	port = argv[2];
	if (!strcmp(argv[3], "connect") && argc == 6) {
		req = new_req(KIND_CONTROL, 0);
		req.version = htole16(strtoul(argv[4], NULL, 0));
		req.magic = htole32(strtoul(argv[5], NULL, 0));
		connect_to(&conn, "control", &req);
	} else if (!strcmp(argv[3], "token")) {
		wrong_token();
	} else if (!strcmp(argv[3], "write-read-only") && argc == 5) {
		write_read_only(argv[4]);
	} else if (!strcmp(argv[3], "message") && argc == 5) {
		first_message(argv[4]);
	} else {
		fprintf(stderr, "rblk-peer: bad arguments\n");
		return 1;
	}
	return 0;
}
