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
	tickets  map[tokenHash]time.Time // when each ends
	sessions map[tokenHash]time.Time
}

func newAccessList(program secret.Value, now func() time.Time) *accessList {
	a := &accessList{now: now, tickets: map[tokenHash]time.Time{}, sessions: map[tokenHash]time.Time{}}
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
func keepHash(list map[tokenHash]time.Time, hash tokenHash, now, end time.Time) {
	for {
		var first tokenHash
		for h, at := range list {
			if !now.Before(at) {
				delete(list, h)
			} else if at.Before(list[first]) || list[first].IsZero() {
				first = h
			}
		}
		if len(list) < maxKept {
			break
		}
		delete(list, first)
	}
	list[hash] = end
}

// issueTicket makes a ticket, and tells when it ends.
func (a *accessList) issueTicket() (ticket string, end time.Time) {
	now := a.now()
	ticket, end = newToken(), now.Add(ticketLife)
	a.mu.Lock()
	defer a.mu.Unlock()
	keepHash(a.tickets, sha256.Sum256([]byte(ticket)), now, end)
	return ticket, end
}

// exchangeTicket takes a ticket and gives a session's token. EAccess: the ticket was used
// before, has ended, or was never given.
func (a *accessList) exchangeTicket(ticket string) (Session, error) {
	now, hash := a.now(), tokenHash(sha256.Sum256([]byte(ticket)))
	a.mu.Lock()
	defer a.mu.Unlock()
	end, ok := a.tickets[hash]
	delete(a.tickets, hash)
	if !ok || !now.Before(end) {
		return Session{}, company.E(company.EAccess, "this link has been used, or is older than ten minutes").Fix("company open gives a fresh one")
	}
	s := Session{Token: newToken(), Expires: now.Add(sessionLife)}
	keepHash(a.sessions, sha256.Sum256([]byte(s.Token)), now, s.Expires)
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
// that token lasts for sessionLife from here on.
func (a *accessList) admitRequest(h http.Header) admission {
	sent := h.Values("Authorization")
	if len(sent) != 1 {
		return nobody
	}
	scheme, token, ok := strings.Cut(sent[0], " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nobody
	}
	hash := tokenHash(sha256.Sum256([]byte(token)))
	if a.known && hash == a.program {
		return program
	}
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if end, ok := a.sessions[hash]; !ok || !now.Before(end) {
		return nobody
	}
	a.sessions[hash] = now.Add(sessionLife)
	return page
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
	Expires time.Time `json:"expires"` // each request moves it
}

// NewLink makes a link by which a browser gets in once. EConflict: the company has no
// address for browsers. ENotFound: no company is at work.
func (s *Server) NewLink() (Link, error) {
	switch {
	case !s.atWork:
		return Link{}, company.E(company.ENotFound, "no company is at work in this office").Because("a browser is answered by one that serves it").Fix("company serve")
	case s.tcp == nil && !s.info.Serving:
		return Link{}, company.E(company.EConflict, "the company at work here has no address for a browser").Because("it ends with its own task").Fix("company serve, when that task has ended")
	case s.tcp == nil:
		return Link{}, company.E(company.EConflict, "the company at work here has no address for a browser").Because("serve.listen is empty").
			Fix("company config set serve.listen 127.0.0.1:7777, then start company serve anew")
	}
	ticket, end := s.tcp.access.issueTicket()
	return Link{URL: s.tcp.url + "/#t=" + ticket, Expires: end}, nil
}

func (s *Server) serveTicket(w http.ResponseWriter, _ *http.Request) {
	l, err := s.NewLink()
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
	session, err := s.tcp.access.exchangeTicket(in.Ticket)
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, session)
}
