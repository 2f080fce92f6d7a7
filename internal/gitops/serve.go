package gitops

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"company/internal/company"
	"company/internal/gitops/gitexec"
	"company/internal/lib/lazyregexp"
)

// hookScript is the pre-receive hook of every quarantine. It passes the temporary object directory and the list of
// references to the process that serves the push (descriptor 3) and prints its answer (descriptor 4). Without an
// answer, the push is refused.
const hookScript = `#!/bin/sh
# written by company; see the documentation of internal/gitops
{
	printf '%s\n' "$GIT_QUARANTINE_PATH" &&
	while IFS= read -r line; do printf '%s\n' "$line" || exit 1; done &&
	echo end
} >&3 || exit 1
exec 3>&-
IFS= read -r answer <&4 || answer='E_INTERNAL: nobody answered for this push'
[ "$answer" = ok ] && exit 0
printf '%s\n' "$answer" >&2
exit 1
`

const (
	maxRefLines  = 64       // limit for references in one push
	maxRefBytes  = 64 << 10 // limit for the whole list
	serveTimeout = 10 * time.Minute
	packTimeout  = 90 * time.Second // limit for a push: 60 s of processor time, and the checks
)

// RefUpdate is one line of a push. Old is all zeros for a new reference, and New for a deleted one.
type RefUpdate struct {
	Old, New OID
	Ref      string
	Rewrites bool // New does not contain Old: a forced push; not set for the checkpoint
}

// Deletes reports whether the line removes the reference.
func (u RefUpdate) Deletes() bool { return strings.Trim(string(u.New), "0") == "" }

// Service is a pack service of git.
type Service string

// The two services.
const (
	UploadPack  Service = "git-upload-pack"  // clone and fetch
	ReceivePack Service = "git-receive-pack" // push
)

// PackRequest is one stateless conversation with a pack process.
type PackRequest struct {
	Service   Service
	Advertise bool // send the list of references; In is not read
	// In is the request, decompressed and size-limited by the caller. If it is an io.Closer, Close must make a running
	// Read return. It is called after the process has ended, which may be before everything was read.
	In  io.Reader
	Out io.Writer
	// Judge decides on the references of a push before its objects are checked. It is required for ReceivePack without
	// Advertise. Its error is sent to the pushing client.
	Judge func(ctx context.Context, updates []RefUpdate) error
	// Refused, if not nil, is called for every refused push.
	Refused func(error)
	// NoRoom, if not nil, is called when the host's disk has no room for a push, before the client gets the error.
	NoRoom func(error)
}

// Pack runs one pack process on the quarantine, without a shell or CGI in between. It uses the old protocol, because
// version 2 would serve any object that is present. It returns when the process has ended. Cancelling ctx kills the
// process with all its children. A refused push is not an error here, since the client gets the answer.
func (q *Quarantine) Pack(ctx context.Context, req PackRequest) error {
	if req.Service != UploadPack && req.Service != ReceivePack {
		return company.E(company.EInvalid, fmt.Sprintf("unknown pack service %q", string(req.Service)))
	}
	if err := q.s.checkUntampered(q.dir); err != nil {
		return err
	}
	c := call{dir: q.dir, config: append(q.s.serveConfig(), q.fsckOfBase("receive", q.dir)...),
		args: []string{strings.TrimPrefix(string(req.Service), "git-"), "--stateless-rpc"}}
	limit := serveTimeout
	if req.Service == ReceivePack {
		c.limited, limit = true, packTimeout
	}
	if req.Advertise {
		c.args = append(c.args, "--advertise-refs")
		req.In = bytes.NewReader(nil)
	}
	c.args = append(c.args, q.dir)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if req.Service == UploadPack || req.Advertise {
		return q.runPackProcess(ctx, c, req, nil)
	}
	if req.Judge == nil {
		return company.E(company.EInternal, "a push needs a check")
	}
	if n, err := q.pushedBytes(); err != nil || n > MaxRunBytes {
		return company.E(company.EObjects,
			fmt.Sprintf("run %s has pushed more than %d MiB", q.run, MaxRunBytes>>20)).Wrap(err)
	}
	return q.receivePush(ctx, c, req)
}

// receivePush serves a push. Judge decides on it when the hook asks.
func (q *Quarantine) receivePush(ctx context.Context, c call, req PackRequest) error {
	// Allow one push at a time: any temporary folders left after it are garbage.
	unlock, err := q.s.lockRepo(ctx, q.dir+" push")
	if err != nil {
		return err
	}
	defer unlock()
	defer q.removeStaleObjects()
	askR, askW, err := os.Pipe()
	if err != nil {
		return company.E(company.EGit, "the push cannot be served").Wrap(err)
	}
	answerR, answerW, err := os.Pipe()
	if err != nil {
		_ = errors.Join(askR.Close(), askW.Close())
		return company.E(company.EGit, "the push cannot be served").Wrap(err)
	}
	c.extra = []*os.File{askW, answerR}
	ctx, cancel := context.WithCancel(ctx)
	sent, said := &opening{Reader: req.In}, &opening{Writer: req.Out, holds: true}
	req.In, req.Out = sent, said
	var wg sync.WaitGroup
	asked := false
	wg.Go(func() {
		defer func() { _ = errors.Join(askR.Close(), answerW.Close()) }()
		asked = q.answerHook(ctx, askR, answerW, req)
	})
	unblock := context.AfterFunc(ctx, func() { _ = askR.SetDeadline(time.Now()) })
	err = q.runPackProcess(ctx, c, req, func() { _ = errors.Join(askW.Close(), answerR.Close()) })
	// All writers are gone unless a grandchild of a killed child still holds the pipe. The cancelled context covers that
	// case.
	cancel()
	wg.Wait()
	unblock()
	if refused := err == nil || company.CodeOf(err) == company.EObjects; refused && !asked && sent.hasUpdates() {
		if reason := cmp.Or(noRoomReason(said.head), noRoomReason([]byte(fmt.Sprint(err)))); reason != "" {
			err = company.E(company.EGit, "the host's disk has no space for the push").Because(reason).Wrap(syscall.ENOSPC)
			if req.NoRoom != nil {
				req.NoRoom(err)
			}
			return err
		}
		if err == nil && req.Refused != nil {
			req.Refused(company.E(company.EObjects, "git rejected the push").Because(said.refusalReason()))
		}
	}
	if unsent := said.releaseHeld(); err == nil {
		err = unsent
	}
	return err
}

// opening copies a stream and keeps its beginning.
type opening struct {
	io.Reader
	io.Writer
	head []byte

	// holds keeps written bytes back until releaseHeld, or until there are more than a push report can have.
	holds bool
	held  []byte
}

const (
	maxOpening = 8 << 10
	maxHeld    = 64 << 10
)

func (o *opening) addBytes(p []byte) {
	o.head = append(o.head, p[:min(len(p), maxOpening-len(o.head))]...)
}

func (o *opening) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	o.addBytes(p[:n])
	return n, err
}

func (o *opening) Write(p []byte) (int, error) {
	o.addBytes(p)
	if o.holds {
		if o.held = append(o.held, p...); len(o.held) <= maxHeld {
			return len(p), nil
		}
		return len(p), o.releaseHeld()
	}
	return o.Writer.Write(p)
}

// releaseHeld writes the held bytes. Later writes are passed on immediately.
func (o *opening) releaseHeld() error {
	held := o.held
	o.holds, o.held = false, nil
	if len(held) == 0 {
		return nil
	}
	_, err := o.Writer.Write(held)
	return err
}

// Close closes the reader if it is an io.Closer.
func (o *opening) Close() error {
	if c, ok := o.Reader.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// hasUpdates reports whether a push asks to change a reference, that is, whether it does not begin with the end of
// its list. If git then calls no hook, it refused the push itself, mostly because of its own object checks.
func (o *opening) hasUpdates() bool { return len(o.head) > 4 && string(o.head[:4]) != "0000" }

var gitRefuses = lazyregexp.New(`(?:error|fatal|unpack)[: ][^\n]*`)

// refusalReason returns git's first line about refusing the push.
func (o *opening) refusalReason() string { return Mask(oneLine(string(gitRefuses.Find(o.head)))) }

var noRoomRE = lazyregexp.New(`(?i)[^\n]*(?:no space left on device|out of diskspace|disk quota exceeded)`)

// noRoomReason returns the line in which git reports a full disk, or "".
func noRoomReason(text []byte) string { return Mask(oneLine(string(noRoomRE.Find(text)))) }

// runPackProcess runs the pack process. It calls started once the process has its files.
func (q *Quarantine) runPackProcess(ctx context.Context, c call, req PackRequest, started func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	git := q.s.command(c)
	cmd := git.Process(ctx)
	// After the process has ended, its output may still be on its way to a slow client.
	cmd.WaitDelay = time.Minute
	errOut := gitexec.NewHead(gitexec.MaxStderr)
	cmd.Stdout, cmd.Stderr = req.Out, errOut
	begin := time.Now()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = git.Start(cmd)
	}
	if started != nil {
		started()
	}
	if err != nil {
		return company.E(company.EGit, string(req.Service)+" could not be started").Wrap(err)
	}
	// The copy runs here and not in exec, because exec's Wait would hang on a client that neither sends nor hangs up
	// after the process has ended.
	copied := make(chan struct{})
	go func() {
		_, err := io.Copy(in, req.In)
		if err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, syscall.EPIPE) {
			cancel(err) // a partial request must not look complete
		}
		_ = in.Close()
		close(copied)
	}()
	err = cmd.Wait()
	q.s.logOf(ctx).writeLine(
		subjectOf(ctx), c.args[0], c.args[1:], gitexec.ExitCode(cmd), time.Since(begin), errOut.String())
	broken := ctx.Err() != nil // checked before Close below makes a late Read fail
	if closer, ok := req.In.(io.Closer); ok {
		_ = closer.Close()
	}
	<-copied
	switch {
	case broken:
		return contextError(ctx, c.args[0])
	case err != nil && req.Service == UploadPack:
		return company.E(company.EGit, string(req.Service)+" failed").
			Because(Mask(strings.TrimSpace(errOut.String()))).Wrap(err)
	case err != nil:
		return company.E(company.EObjects, "the push was refused by git").
			Because(Mask(strings.TrimSpace(errOut.String()))).Wrap(err)
	}
	return nil
}

// removeStaleObjects removes the temporary object directories of killed pushes. Otherwise repeated half-sent packs
// would fill the disk beyond every limit, since pushedBytes does not count them.
func (q *Quarantine) removeStaleObjects() {
	objects := q.s.relName(q.dir) + "/objects"
	left, err := q.s.own.List(objects)
	if err != nil {
		return // the next push retries
	}
	for _, entry := range left {
		if strings.HasPrefix(entry.Name(), "tmp_objdir-") {
			_ = q.s.own.RemoveAll(objects + "/" + entry.Name()) // the next push retries
		}
	}
}

// answerHook reads the hook's question, decides, and writes one line. It reports whether the hook asked at all.
func (q *Quarantine) answerHook(ctx context.Context, ask io.Reader, reply io.Writer, req PackRequest) (asked bool) {
	objects, updates, err := readPush(ask)
	if err == nil && objects == "" && updates == nil {
		return false // the hook was never started
	}
	if err == nil {
		err = q.checkPush(ctx, objects, updates, req)
	}
	line := "ok"
	if err != nil {
		line = string(company.CodeOf(err)) + ": " + err.Error()
		var fault *company.Error
		if errors.As(err, &fault) && fault.Hint != "" {
			line += "; " + fault.Hint
		}
		line = oneLine(line)
		if req.Refused != nil && ctx.Err() == nil { // a client that disconnected gets no refusal
			req.Refused(err)
		}
	}
	_, _ = io.WriteString(reply, line+"\n")
	return true
}

// checkPush makes the complete decision on one push.
func (q *Quarantine) checkPush(ctx context.Context, objects string, updates []RefUpdate, req PackRequest) error {
	own := filepath.Join(q.dir, "objects")
	if rel, err := filepath.Rel(own, objects); err != nil || !filepath.IsLocal(rel) || rel == "." {
		return company.E(company.EInternal, "the pushed objects are in the wrong place")
	}
	env := []string{"GIT_OBJECT_DIRECTORY=" + objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + own}
	ctx, cancel := context.WithTimeout(ctx, objectsTimeout)
	defer cancel()
	batch, err := q.s.startBatch(ctx, q.dir, env, true)
	if err != nil {
		return err
	}
	defer batch.close()
	for i, refUpdate := range updates {
		if refUpdate.Deletes() || strings.Trim(string(refUpdate.Old), "0") == "" || refUpdate.Ref == CheckpointRef(q.run) {
			continue // a deleted, new or checkpoint reference is not checked for rewriting
		}
		if updates[i].Rewrites, err = q.isRewritten(ctx, env, refUpdate); err != nil {
			return err
		}
	}
	if err := req.Judge(ctx, updates); err != nil {
		return err
	}
	var tips []OID
	for _, refUpdate := range updates {
		if refUpdate.Deletes() {
			return company.E(company.EProtected, fmt.Sprintf("%q may not be deleted", refUpdate.Ref))
		}
		tips = append(tips, refUpdate.New)
	}
	return q.judgeObjects(ctx, batch, env, tips)
}

// readPush reads the hook's question. Empty input is not an error.
func readPush(r io.Reader) (string, []RefUpdate, error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxRefBytes))
	if !lines.Scan() {
		return "", nil, lines.Err()
	}
	objects := lines.Text()
	updates := []RefUpdate{}
	for lines.Scan() {
		if lines.Text() == "end" {
			return objects, updates, nil
		}
		f := strings.SplitN(lines.Text(), " ", 3)
		if len(f) != 3 || !OID(f[0]).Valid() || !OID(f[1]).Valid() || len(updates) >= maxRefLines {
			return "", nil, company.E(company.EInvalid,
				fmt.Sprintf("the push has more than %d references, or invalid ones", maxRefLines))
		}
		updates = append(updates, RefUpdate{Old: OID(f[0]), New: OID(f[1]), Ref: f[2]})
	}
	return "", nil, company.E(company.EInvalid, "the push's list of references is cut off or too long").Wrap(lines.Err())
}

// pushedBytes returns how many bytes pushes have added to the repository: its packs minus those of the base.
func (q *Quarantine) pushedBytes() (int64, error) {
	var total int64
	seeded, err := q.s.own.ReadFile(q.s.relName(q.dir)+"/"+seedList, 0)
	if err != nil {
		return 0, err
	}
	base := map[string]bool{}
	for name := range strings.SplitSeq(string(seeded), "\n") {
		base[name] = true
	}
	packs, err := q.s.own.List(q.s.relName(q.dir) + "/objects/pack")
	for _, entry := range packs {
		fi, statErr := entry.Info()
		if errors.Is(statErr, os.ErrNotExist) {
			continue
		}
		if statErr != nil {
			return 0, statErr
		}
		if !base[entry.Name()] {
			total += fi.Size()
		}
	}
	return total, err
}
