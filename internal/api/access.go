package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/lib/secret"
)

// ticketLife is how long a browser's link stays valid.
const ticketLife = 10 * time.Minute

// sessionLife is how long a page's session lasts after its last request.
const sessionLife = 12 * time.Hour

// sessionEnd is the maximum length of a session, even in use. It limits the damage of a token
// stolen from a browser.
const sessionEnd = 30 * 24 * time.Hour

// maxKept limits the open tickets, and the sessions. When a list is full, the entry that expires
// first is dropped.
const maxKept = 64

// tokenHash is the stored form of a ticket or a token. Comparing hashes does not reveal how close
// a guess was.
type tokenHash [sha256.Size]byte

// accessList lists tickets and tokens of the API over TCP. It exists only in memory, as long as
// the server.
type accessList struct {
	program tokenHash // hash of the token for programs
	known   bool      // a token for programs is set
	now     func() time.Time

	mu       sync.Mutex
	tickets  map[tokenHash]grant
	sessions map[tokenHash]grant
}

// grant is a ticket or a session without its secret.
type grant struct {
	end  time.Time // expires at this time
	last time.Time // latest end; neither use nor a new ticket extends it
	own  bool      // for tickets: only a process of the office's user may use it
}

func newAccessList(program secret.Value, now func() time.Time) *accessList {
	a := &accessList{now: now, tickets: map[tokenHash]grant{}, sessions: map[tokenHash]grant{}}
	if a.known = program.Set(); a.known {
		a.program = sha256.Sum256([]byte(program.Reveal()))
	}
	return a
}

// newToken returns 256 random bits as text that fits into an address and a header.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails; the program crashes if the kernel has no randomness
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// keepHash adds a hash to a list and removes expired entries. If the list is full, it also drops
// the entry that expires first.
func keepHash(list map[tokenHash]grant, hash tokenHash, now time.Time, g grant) {
	for {
		var first tokenHash
		for h, kept := range list {
			if !now.Before(kept.end) {
				delete(list, h)
			} else if kept.end.Before(list[first].end) || list[first].end.IsZero() {
				first = h
			}
		}
		if len(list) < maxKept {
			break
		}
		delete(list, first)
	}
	list[hash] = g
}

// issueTicket creates a ticket and returns its expiry time. With own, only a process of the
// office's user may use it. last is the end of the requesting session, or zero without one.
func (a *accessList) issueTicket(own bool, last time.Time) (ticket string, end time.Time) {
	now := a.now()
	ticket, end = newToken(), now.Add(ticketLife)
	a.mu.Lock()
	defer a.mu.Unlock()
	keepHash(a.tickets, sha256.Sum256([]byte(ticket)), now, grant{end: end, last: last, own: own})
	return ticket, end
}

// exchangeTicket exchanges a ticket for a session's token. isOwner reports whether a process of
// the office's user sent the request, and may be slow. It returns EAccess if the ticket is used,
// expired, unknown, or reserved for that user. A reserved ticket stays valid.
func (a *accessList) exchangeTicket(ticket string, isOwner func() bool) (Session, error) {
	now, hash := a.now(), tokenHash(sha256.Sum256([]byte(ticket)))
	a.mu.Lock()
	g := a.tickets[hash]
	a.mu.Unlock()
	if g.own && !isOwner() {
		return Session{}, company.E(company.EAccess, "this link is for programs of the user who made it").
			Because("the request comes from another user's program, or its owner cannot be determined").
			Fix("open the link that company open prints")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g, ok := a.tickets[hash]
	delete(a.tickets, hash)
	if !ok || !now.Before(g.end) {
		return Session{}, company.E(company.EAccess, "this link has been used, or is older than ten minutes").
			Fix("company open prints a new one")
	}
	session := grant{end: now.Add(sessionLife), last: g.last}
	if session.last.IsZero() {
		session.last = now.Add(sessionEnd)
	}
	if session.end.After(session.last) {
		session.end = session.last
	}
	s := Session{Token: newToken(), Expires: session.end}
	keepHash(a.sessions, sha256.Sum256([]byte(s.Token)), now, session)
	return s, nil
}

// admission is the kind of owner of a token.
type admission int

const (
	nobody  admission = iota // no valid token
	page                     // session from a ticket
	program                  // the token of serve.token_env
)

// admitRequest returns the kind of owner of the token in a request's headers. It extends the
// session to sessionLife from now, but not beyond last, which it returns. The token for programs
// has no last moment.
func (a *accessList) admitRequest(h http.Header) (who admission, last time.Time) {
	sent := h.Values("Authorization")
	if len(sent) != 1 {
		return nobody, time.Time{}
	}
	scheme, token, ok := strings.Cut(sent[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nobody, time.Time{}
	}
	hash := tokenHash(sha256.Sum256([]byte(token)))
	if a.known && hash == a.program {
		return program, time.Time{}
	}
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	grant, ok := a.sessions[hash]
	if !ok || !now.Before(grant.end) {
		return nobody, time.Time{}
	}
	if grant.end = now.Add(sessionLife); grant.end.After(grant.last) {
		grant.end = grant.last
	}
	a.sessions[hash] = grant
	return page, grant.last
}

// Link is a link that opens the office in a browser.
type Link struct {
	URL     string    `json:"url"` // valid once
	Expires time.Time `json:"expires"`
}

// TicketExchange is the request of a page for a session.
type TicketExchange struct {
	Ticket string `json:"ticket"` // part of the link after #t=
}

// Session is the access of a page to the API.
type Session struct {
	Token   string    `json:"token"`   // for Authorization: Bearer
	Expires time.Time `json:"expires"` // each request extends it, up to 30 days in total
}

// NewLink returns a link that works once in a browser. It returns EConflict if the company has no
// address for browsers, and ENotFound if no company is running.
func (s *Server) NewLink() (Link, error) { return s.makeLink(false, time.Time{}) }

// makeLink implements NewLink. own and last are passed to issueTicket.
func (s *Server) makeLink(own bool, last time.Time) (Link, error) {
	switch {
	case !s.office.Source().AtWork:
		return Link{}, company.E(company.ENotFound, "no company is running in this office").
			Because("a browser needs company serve").Fix("company serve")
	case s.tcp == nil && !s.info.Serving:
		return Link{}, company.E(company.EConflict, "the running company has no address for browsers").
			Because("only company serve has one").Fix("company serve, which continues its work")
	case s.tcp == nil:
		return Link{}, company.E(company.EConflict, "the running company has no address for browsers").
			Because("serve.listen is empty").
			Fix("company config set serve.listen 127.0.0.1:7777, then restart company serve")
	}
	ticket, end := s.tcp.access.issueTicket(own, last)
	return Link{URL: s.tcp.url + "/#t=" + ticket, Expires: end}, nil
}

func (s *Server) serveTicket(w http.ResponseWriter, r *http.Request) {
	link, err := s.makeLink(r.URL.Query().Get("own") == "true", sessionOf(r.Context()))
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, link)
}

func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) {
	if s.tcp == nil {
		_, err := s.NewLink()
		writeError(w, err)
		return
	}
	var exchange TicketExchange
	if err := decodeReader(r.Body, &exchange); err != nil {
		writeError(w, company.E(company.EInvalid, "invalid request").Wrap(err).Fix(s.sameVersion()))
		return
	}
	session, err := s.tcp.access.exchangeTicket(exchange.Ticket, func() bool { return isOwnPeer(r) })
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, session)
}
