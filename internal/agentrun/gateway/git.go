package gateway

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"company/internal/company"
	"company/internal/gitops"
)

// advertiseRefs lists the references for a fetch or a push.
func (g *Gateway) advertiseRefs(ctx context.Context, w http.ResponseWriter, r *http.Request, service gitops.Service) {
	if r.Method != http.MethodGet {
		g.refuseRequest(w, http.StatusMethodNotAllowed, "method", "info/refs needs GET")
		return
	}
	if !g.mayUse(w, service) || !g.acquireSlot(w) {
		return
	}
	defer g.releaseSlot()
	out := g.newResponse(w, "application/x-"+string(service)+"-advertisement")
	line := "# service=" + string(service) + "\n"
	out.preamble = fmt.Sprintf("%04x%s0000", len(line)+4, line)
	err := g.cfg.Quarantine.Pack(ctx, gitops.PackRequest{Service: service, Advertise: true, Out: out})
	out.finishWith(g, err)
}

// servePack serves one fetch or push.
func (g *Gateway) servePack(ctx context.Context, w http.ResponseWriter, r *http.Request, service gitops.Service) {
	limit := int64(maxFetchRequest)
	if service == gitops.ReceivePack {
		limit = maxPushRequest
	}
	switch {
	case r.Method != http.MethodPost:
		g.refuseRequest(w, http.StatusMethodNotAllowed, "method", "packs need POST")
		return
	case r.Header.Get("Content-Type") != "application/x-"+string(service)+"-request":
		g.refuseRequest(w, http.StatusUnsupportedMediaType, "header", "not a git request")
		return
	case r.ContentLength > limit:
		g.refuseRequest(w, http.StatusRequestEntityTooLarge, "body", fmt.Sprintf("the request has more than %d bytes", limit))
		return
	}
	if !g.mayUse(w, service) || !g.acquireSlot(w) {
		return
	}
	defer g.releaseSlot()
	out := g.newResponse(w, "application/x-"+string(service)+"-result")
	// git may answer before it has read the whole request.
	_ = out.rc.EnableFullDuplex()
	body := &request{rc: out.rc, r: r.Body}
	in := http.MaxBytesReader(w, body, limit)
	switch enc := r.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(in)
		if err != nil {
			out.stop()
			g.refuseRequest(w, http.StatusBadRequest, "body", "the body is not gzip")
			return
		}
		in = &inflated{Closer: body, r: z, left: limit}
	default:
		out.stop()
		g.refuseRequest(w, http.StatusUnsupportedMediaType, "header",
			fmt.Sprintf("unsupported content encoding %.50q", enc))
		return
	}
	reported := false
	err := g.cfg.Quarantine.Pack(ctx, gitops.PackRequest{
		Service: service, In: in, Out: out, Judge: g.checkRefs,
		Refused: func(err error) { reported = true; g.refusedPush(err) }, NoRoom: g.cfg.OnNoRoom,
	})
	switch {
	case errors.Is(err, errTooLong):
		g.reportSecurity("body", err.Error())
	case service == gitops.ReceivePack && !reported:
		g.refusedPush(err)
	}
	out.finishWith(g, err)
}

// refusedPush reports a push that was refused for its content. Failures of the host, and clients that went away,
// are not reported.
func (g *Gateway) refusedPush(err error) {
	switch company.CodeOf(err) {
	case company.EObjects, company.EProtected, company.EInvalid:
		g.reportSecurity("push", err.Error())
	}
}

// mayUse refuses pushes of a run that only reads.
func (g *Gateway) mayUse(w http.ResponseWriter, service gitops.Service) bool {
	if service == gitops.ReceivePack && g.cfg.ReadOnly {
		g.refuseRequest(w, http.StatusForbidden, "read_only", "this run may not push")
		return false
	}
	return true
}

// acquireSlot takes a slot for a git process. There are few slots, and git sends one request at a time. If no
// slot is free, the request gets 503 with a time to retry.
func (g *Gateway) acquireSlot(w http.ResponseWriter) bool {
	select {
	case g.slots <- struct{}{}:
		return true
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many git processes of this run", http.StatusServiceUnavailable)
		return false
	}
}

func (g *Gateway) releaseSlot() { <-g.slots }

var errTooLong = errors.New("the decompressed request is too long")

// inflated limits the inflated size of a gzip body.
type inflated struct {
	io.Closer // of the body
	r         io.Reader
	left      int64
}

func (i *inflated) Read(p []byte) (int, error) {
	if i.left <= 0 {
		return 0, errTooLong
	}
	n, err := i.r.Read(p[:min(int64(len(p)), i.left)])
	i.left -= int64(n)
	return n, err
}

// request is a body that fails if no byte arrives for idleTimeout. After its end the deadline is removed.
// net/http keeps reading the connection to notice a client that leaves, and would take a passed deadline for
// that.
type request struct {
	rc     *http.ResponseController
	r      io.Reader
	mu     sync.Mutex // guards the fields below and the order of deadlines
	ended  bool
	closed bool
}

func (r *request) Read(p []byte) (int, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return 0, net.ErrClosed
	}
	// A ResponseWriter without deadlines needs no limit.
	_ = r.rc.SetReadDeadline(time.Now().Add(idleTimeout))
	r.mu.Unlock()
	n, err := r.r.Read(p)
	if err == io.EOF {
		r.mu.Lock()
		r.ended = true
		_ = r.rc.SetReadDeadline(time.Time{})
		r.mu.Unlock()
	}
	return n, err
}

// Close interrupts a Read that is under way.
func (r *request) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil
	}
	r.closed = true
	return r.rc.SetReadDeadline(time.Now())
}

// response sends its header with the first byte. A process that fails before that can still be answered with an
// error status.
type response struct {
	w        http.ResponseWriter
	rc       *http.ResponseController
	kind     string
	preamble string
	begun    bool
	stop     func() bool
}

func (g *Gateway) newResponse(w http.ResponseWriter, kind string) *response {
	r := &response{w: w, rc: http.NewResponseController(w), kind: kind}
	// Close must not wait for a client that does not read.
	r.stop = context.AfterFunc(g.ctx, func() { _ = r.rc.SetWriteDeadline(time.Now()) })
	return r
}

func (r *response) Write(p []byte) (int, error) {
	_ = r.rc.SetWriteDeadline(time.Now().Add(idleTimeout))
	if !r.begun {
		r.begun = true
		r.w.Header().Set("Content-Type", r.kind)
		r.w.Header().Set("Cache-Control", "no-cache")
		if _, err := io.WriteString(r.w, r.preamble); err != nil {
			return 0, err
		}
	}
	n, err := r.w.Write(p)
	if err == nil {
		err = r.rc.Flush()
	}
	return n, err
}

// finishWith reports a failure to the client if the answer has not begun. After that, git itself has reported
// it, or the broken connection does.
func (r *response) finishWith(gateway *Gateway, err error) {
	r.stop()
	if err == nil {
		return
	}
	gateway.cfg.Logger.InfoContext(gateway.ctx, "git request ended with an error", "run_id", gateway.cfg.Run, "err", err)
	if r.begun {
		return
	}
	status := http.StatusInternalServerError
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig) || errors.Is(err, errTooLong):
		status = http.StatusRequestEntityTooLarge
	case company.CodeOf(err) == company.EObjects:
		status = http.StatusForbidden
	}
	_ = r.rc.SetWriteDeadline(time.Now().Add(idleTimeout))
	http.Error(r.w, strings.TrimSpace(err.Error()), status)
}
