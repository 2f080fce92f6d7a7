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
	"company/internal/secret"
)

// ticketLife is how long the link of a browser can be opened.
const ticketLife = 10 * time.Minute

// sessionLife is how long a page keeps its access from its newest request on.
const sessionLife = 12 * time.Hour

// sessionEnd is how long a session lasts at most, however much it is used: a token that was
// taken from a browser ends with it.
const sessionEnd = 30 * 24 * time.Hour

// maxKept bounds the tickets that are open, and the sessions. The one that ends first makes
// room for one more.
const maxKept = 64

// tokenHash is all that is kept of a ticket or a token. A comparison of hashes tells nothing
// of how near a guess was.
type tokenHash [sha256.Size]byte

// accessList lists tickets and tokens of the API over TCP. It lies in memory and ends with the server.
type accessList struct {
	program tokenHash // of the token for programs
	known   bool      // there is one
	now     func() time.Time

	mu       sync.Mutex
	tickets  map[tokenHash]grant
	sessions map[tokenHash]grant
}

// grant is a ticket or a session, without its text.
type grant struct {
	end  time.Time // from here on it is good no more
	last time.Time // no use moves end beyond, nor does a ticket that this session asks for
	own  bool      // of a ticket: only a process of the office's user may take it
}

func newAccessList(program secret.Value, now func() time.Time) *accessList {
	a := &accessList{now: now, tickets: map[tokenHash]grant{}, sessions: map[tokenHash]grant{}}
	if a.known = program.Set(); a.known {
		a.program = sha256.Sum256([]byte(program.Reveal()))
	}
	return a
}

// newToken makes a text of 256 random bits. It fits into an address and into a header.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // it never fails: the program ends where the kernel has no randomness
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// keepHash puts a hash into a list, and takes out what has ended.
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

// issueTicket makes a ticket, and tells when it ends. own: only a process of the office's
// user may take it. last is the end of the session that asks for it; zero: no session does.
func (a *accessList) issueTicket(own bool, last time.Time) (ticket string, end time.Time) {
	now := a.now()
	ticket, end = newToken(), now.Add(ticketLife)
	a.mu.Lock()
	defer a.mu.Unlock()
	keepHash(a.tickets, sha256.Sum256([]byte(ticket)), now, grant{end: end, last: last, own: own})
	return ticket, end
}

// exchangeTicket takes a ticket and gives a session's token. isOwner reports whether a process
// of the office's user asks; it may take a while. EAccess: the ticket was used before, has
// ended, was never given, or is for that user alone: then it stays.
func (a *accessList) exchangeTicket(ticket string, isOwner func() bool) (Session, error) {
	now, hash := a.now(), tokenHash(sha256.Sum256([]byte(ticket)))
	a.mu.Lock()
	g := a.tickets[hash]
	a.mu.Unlock()
	if g.own && !isOwner() {
		return Session{}, company.E(company.EAccess, "this link is for programs of the user who made it").Because("another user's program sent it, or one that this machine does not show").
			Fix("open the link that company open prints")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	g, ok := a.tickets[hash]
	delete(a.tickets, hash)
	if !ok || !now.Before(g.end) {
		return Session{}, company.E(company.EAccess, "this link has been used, or is older than ten minutes").Fix("company open gives a fresh one")
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

// admission names the owner of a token.
type admission int

const (
	nobody  admission = iota // no token, or none that is good now
	page                     // a session, of a ticket
	program                  // the token of serve.token_env
)

// admitRequest finds the owner of the token in the headers of a request. The session of
// that token lasts for sessionLife from here on, and never beyond its last moment, which is
// given; the token of programs has none.
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
	g, ok := a.sessions[hash]
	if !ok || !now.Before(g.end) {
		return nobody, time.Time{}
	}
	if g.end = now.Add(sessionLife); g.end.After(g.last) {
		g.end = g.last
	}
	a.sessions[hash] = g
	return page, g.last
}

// Link is the way of a browser into the office.
type Link struct {
	URL     string    `json:"url"` // good once
	Expires time.Time `json:"expires"`
}

// TicketExchange is what a page sends for its session.
type TicketExchange struct {
	Ticket string `json:"ticket"` // of the link, behind #t=
}

// Session is the access of a page.
type Session struct {
	Token   string    `json:"token"`   // for Authorization: Bearer
	Expires time.Time `json:"expires"` // each request moves it, by at most 30 days in all
}

// NewLink makes a link by which a browser gets in once. EConflict: the company has no
// address for browsers. ENotFound: no company is at work.
func (s *Server) NewLink() (Link, error) { return s.makeLink(false, time.Time{}) }

// makeLink is NewLink; own and last are those of issueTicket.
func (s *Server) makeLink(own bool, last time.Time) (Link, error) {
	switch {
	case !s.atWork:
		return Link{}, company.E(company.ENotFound, "no company is at work in this office").Because("a browser is answered by one that serves it").Fix("company serve")
	case s.tcp == nil && !s.info.Serving:
		return Link{}, company.E(company.EConflict, "the company at work here has no address for a browser").Because("it ends with its own task").Fix("company serve, when that task has ended")
	case s.tcp == nil:
		return Link{}, company.E(company.EConflict, "the company at work here has no address for a browser").Because("serve.listen is empty").
			Fix("company config set serve.listen 127.0.0.1:7777, then start company serve anew")
	}
	ticket, end := s.tcp.access.issueTicket(own, last)
	return Link{URL: s.tcp.url + "/#t=" + ticket, Expires: end}, nil
}

func (s *Server) serveTicket(w http.ResponseWriter, r *http.Request) {
	l, err := s.makeLink(r.URL.Query().Get("own") == "true", sessionOf(r.Context()))
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, l)
}

func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) {
	if s.tcp == nil {
		_, err := s.NewLink()
		writeError(w, err)
		return
	}
	var in TicketExchange
	if err := decodeReader(r.Body, &in); err != nil {
		writeError(w, company.E(company.EInvalid, "the request is not what was expected").Wrap(err).Fix(s.sameVersion()))
		return
	}
	session, err := s.tcp.access.exchangeTicket(in.Ticket, func() bool { return isOwnPeer(r) })
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, session)
}
