// SPDX-License-Identifier: GPL-2.0
/* What an administrator wants to know of a connection. */
#include <linux/export.h>
#include <rdma/ib_sa.h>

#include <rblk/conn.h>

/**
 * rblk_conn_facts - where a connection goes
 * @conn: the connection, which nobody destroys meanwhile
 * @facts: takes it; what does not apply is 0
 *
 * Context: Any. Does not sleep.
 * Return: false if it is not connected.
 */
bool rblk_conn_facts(const struct rblk_conn *conn, struct rblk_conn_facts *facts)
{
	struct rdma_cm_id *id = conn->id;
	struct sa_path_rec *rec;

	memset(facts, 0, sizeof(*facts));
	if (!id || !conn->qp || READ_ONCE(conn->step) != RBLK_STEP_ESTABLISHED)
		return false;
	facts->qpn = conn->qpn;
	rdma_read_gids(id, &facts->source_gid, &facts->peer_gid);
	rec = id->route.path_rec;
	if (!rec || !rdma_cap_ib_sa(id->device, id->port_num))
		return true;
	facts->lids = true;
	facts->source_lid = be32_to_cpu(sa_path_get_slid(rec));
	facts->peer_lid = be32_to_cpu(sa_path_get_dlid(rec));
	facts->pkey = be16_to_cpu(rec->pkey);
	facts->sl = rec->sl;
	return true;
}
EXPORT_SYMBOL_GPL(rblk_conn_facts);
