/* SPDX-License-Identifier: MIT */
#include "master.h"

static enum tracersync_news told(struct tracersync_master *m, unsigned peer,
				 enum tracersync_news news)
{
	if (m->tell)
		m->tell(m->ctx, peer, news);
	return news;
}

/* Numbers continue from the page. */
static void go_on(struct tracersync_peer *p)
{
	uint32_t answer = tracersync_load(&p->page->answer);

	if ((int32_t)(answer - p->seq) > 0)
		p->seq = answer & ~1u;
}

void tracersync_master_init(struct tracersync_master *m)
{
	uint64_t now = m->now_ns(m->ctx);

	for (unsigned i = 0; i < m->peers; i++) {
		struct tracersync_peer *p = &m->peer[i];

		*p = (struct tracersync_peer){ .page = p->page, .id = p->id };
		p->seq = tracersync_load(&p->page->request) & ~1u;
		go_on(p);
		p->refused = tracersync_load(&p->page->refused);
		p->twins = tracersync_load(&p->page->twins);
		p->shortest_ns = UINT64_MAX;
		p->due_ns = now + m->period_ns / m->peers * i;
	}
}

/* What the page says before anything is asked. */
static enum tracersync_news look(struct tracersync_master *m, unsigned peer)
{
	struct tracersync_peer *p = &m->peer[peer];
	uint32_t boot, twins = tracersync_load(&p->page->twins), was = p->boot;

	if (tracersync_load(&p->page->magic) != TRACERSYNC_MAGIC)
		return TRACERSYNC_ABSENT;
	tracersync_fence();
	boot = tracersync_load(&p->page->boot);
	if (twins != p->twins) {
		p->twins = twins;
		told(m, peer, TRACERSYNC_TWINS);
	}
	if (boot == was)
		return p->is_stranger ? TRACERSYNC_STRANGER : TRACERSYNC_DONE;
	p->boot = boot;
	p->missed = 0;
	p->given_up = 0;
	p->is_stranger = tracersync_load(&p->page->id) != p->id;
	if (p->is_stranger)
		return told(m, peer, TRACERSYNC_STRANGER);
	if (was)
		told(m, peer, TRACERSYNC_RESTARTED);
	return TRACERSYNC_DONE;
}

static enum tracersync_news missed(struct tracersync_master *m, unsigned peer)
{
	struct tracersync_peer *p = &m->peer[peer];

	if (tracersync_load(&p->page->refused) != p->refused) {
		p->refused = tracersync_load(&p->page->refused);
		go_on(p);
		return told(m, peer, TRACERSYNC_REPEATED);
	}
	p->missed++;
	if (!m->patience || p->missed < m->patience)
		return told(m, peer, TRACERSYNC_TIMEOUT);
	p->given_up = 1;
	return told(m, peer, TRACERSYNC_GIVEN_UP);
}

enum tracersync_news tracersync_master_exchange(struct tracersync_master *m, unsigned peer)
{
	struct tracersync_peer *p = &m->peer[peer];
	enum tracersync_news news = look(m, peer);
	uint64_t asked, took = 0;

	if (!news && p->given_up)
		news = TRACERSYNC_GIVEN_UP;
	if (news) {
		/* interrupted all the same: of two with one id the elder notices then */
		m->interrupt(m->ctx, peer);
		return news;
	}
	/* 0 says that there was none */
	p->seq = p->seq + 2u ? p->seq + 2u : 2u;
	m->send(m->tracer, p->id, p->seq);
	tracersync_fence();
	tracersync_store(&p->page->request, p->seq);
	tracersync_fence(); /* it is there when the interrupt comes */
	asked = m->now_ns(m->ctx);
	m->interrupt(m->ctx, peer);
	while (tracersync_load(&p->page->answer) != p->seq + 1u) {
		took = m->now_ns(m->ctx) - asked;
		if (took > m->timeout_ns)
			return missed(m, peer);
		if (m->wait)
			m->wait(m->ctx, took);
	}
	tracersync_fence();
	m->receive(m->tracer, p->id, p->seq + 1u);
	took = m->now_ns(m->ctx) - asked;
	p->shortest_ns = took < p->shortest_ns ? took : p->shortest_ns;
	p->missed = 0;
	p->done++;
	return TRACERSYNC_DONE;
}

uint64_t tracersync_master_work(struct tracersync_master *m)
{
	uint64_t now = m->now_ns(m->ctx), next = now + m->period_ns;
	unsigned first = 0;

	for (unsigned i = 1; i < m->peers; i++)
		if (m->peer[i].due_ns < m->peer[first].due_ns)
			first = i;
	if (m->peer[first].due_ns <= now) {
		tracersync_master_exchange(m, first);
		/* turns that were missed are not made up for */
		m->peer[first].due_ns += m->period_ns;
		now = m->now_ns(m->ctx);
		if (m->peer[first].due_ns < now)
			m->peer[first].due_ns = now + m->period_ns;
	}
	for (unsigned i = 0; i < m->peers; i++)
		next = m->peer[i].due_ns < next ? m->peer[i].due_ns : next;
	return next > now ? next - now : 0;
}

const char *tracersync_news_text(enum tracersync_news news)
{
	switch (news) {
	case TRACERSYNC_DONE: return "answered";
	case TRACERSYNC_ABSENT: return "has not begun";
	case TRACERSYNC_TIMEOUT: return "did not answer in time";
	case TRACERSYNC_GIVEN_UP: return "does not answer: given up until it begins again";
	case TRACERSYNC_RESTARTED: return "began again, and its clock with it";
	case TRACERSYNC_TWINS: return "two slaves have this id: each is to have its own";
	case TRACERSYNC_STRANGER: return "who uses its page says that he is another slave";
	case TRACERSYNC_REPEATED: return "refused a number that it had seen before";
	}
	return "";
}
