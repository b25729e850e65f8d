// SPDX-License-Identifier: GPL-2.0
/* The module rblk-server. */
#include <linux/module.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <uapi/linux/rblk_server.h>
#include "server.h"

/* Works of the server. Unbound, since one may take seconds and must not hold up another. */
struct workqueue_struct *rblk_srv_wq;
/*
 * Requests of clients to connect, and who listens for them. Not behind messages of those that
 * are connected, of which each may take seconds.
 */
struct workqueue_struct *rblk_srv_listen_wq;
/*
 * Ends of paths. Works of the first two wait for them, as many as may be active there:
 * behind those they would never run.
 */
struct workqueue_struct *rblk_srv_end_wq;
/* Waits for the CM, which knows no limit: behind that no path would end. */
struct workqueue_struct *rblk_srv_rest_wq;
/* Tells a client that reconnects whether it is still the same server. */
uuid_t rblk_srv_id;
/* Lists, names, who has what open: see server.h. */
DEFINE_MUTEX(rblk_srv_lock);
/* How often a list that can be dumped changed: under the lock. */
u32 rblk_srv_changes;

static int __init rblk_srv_init(void)
{
	int err;

	uuid_gen(&rblk_srv_id);
	rblk_srv_wq = alloc_workqueue("rblk-server", WQ_UNBOUND, 0);
	if (!rblk_srv_wq)
		return -ENOMEM;
	rblk_srv_listen_wq = alloc_workqueue("rblk-server-listen", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!rblk_srv_listen_wq) {
		err = -ENOMEM;
		goto err_wq;
	}
	rblk_srv_end_wq = alloc_workqueue("rblk-server-end", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!rblk_srv_end_wq) {
		err = -ENOMEM;
		goto err_listen_wq;
	}
	rblk_srv_rest_wq = alloc_workqueue("rblk-server-rest", WQ_UNBOUND, WQ_MAX_ACTIVE);
	if (!rblk_srv_rest_wq) {
		err = -ENOMEM;
		goto err_end_wq;
	}
	err = rblk_srv_listen_init();
	if (err)
		goto err_rest_wq;
	err = rblk_srv_netlink_init();
	if (err)
		goto err_listen;
	return 0;

err_listen:
	rblk_srv_listen_exit();
err_rest_wq:
	destroy_workqueue(rblk_srv_rest_wq);
err_end_wq:
	destroy_workqueue(rblk_srv_end_wq);
err_listen_wq:
	destroy_workqueue(rblk_srv_listen_wq);
err_wq:
	destroy_workqueue(rblk_srv_wq);
	return err;
}

static void __exit rblk_srv_exit(void)
{
	/* Nobody asks; nobody connects; nobody is connected; nothing is exported. */
	rblk_srv_netlink_exit();
	rblk_srv_listen_exit();
	rblk_srv_listen_remove_all();
	/* What is at work for a path ends soon once that is to end; then see what is left. */
	rblk_srv_paths_stop();
	flush_workqueue(rblk_srv_listen_wq);
	flush_workqueue(rblk_srv_wq);
	rblk_srv_path_end_all();
	rblk_srv_export_remove_all();
	/* Whoever ended the last request to a disk has left. */
	rblk_srv_slots_sync();
	destroy_workqueue(rblk_srv_listen_wq);
	destroy_workqueue(rblk_srv_end_wq);
	/* Those before it give it work. */
	destroy_workqueue(rblk_srv_rest_wq);
	destroy_workqueue(rblk_srv_wq);
}

module_init(rblk_srv_init);
module_exit(rblk_srv_exit);
MODULE_ALIAS_GENL_FAMILY(RBLK_SERVER_FAMILY_NAME);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("rblk server: exports memory over RDMA");
