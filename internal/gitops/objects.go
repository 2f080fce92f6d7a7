package gitops

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
)

// Modes of tree entries as git writes them.
const (
	ModeFile    = 0o100644
	ModeExec    = 0o100755
	ModeSymlink = 0o120000
	ModeGitlink = 0o160000
	ModeTree    = 0o040000
)

const (
	maxTreeBytes   = 64 << 20  // limit for one tree object
	maxCommitBytes = 1 << 20   // limit for one commit object
	maxReadBytes   = 512 << 20 // limit for one blob in memory
)

// batch sends requests to one git cat-file --batch-command process. It is not safe for concurrent use.
type batch struct {
	*reader
	s        *Store
	ctx      context.Context
	stop     context.CancelFunc
	detach   func() bool // stops ctx from killing the process; false if it already did
	start    time.Time
	asked    int  // number of requests whose answers were not read yet
	isBroken bool // the next output is unknown
}

// startBatch starts a batch. The caller must call close. env adds variables (the object directories of a push), and
// limited sets resource limits.
func (s *Store) startBatch(ctx context.Context, dir string, env []string, limited bool) (*batch, error) {
	if err := s.checkUntampered(dir); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, localLimit)
	var r *reader
	if isShared(env, limited) {
		r = s.readers.takeIdle(dir)
	}
	if r == nil {
		var err error
		if r, err = s.startReader(ctx, dir, env, limited); err != nil {
			stop()
			return nil, err
		}
	}
	return &batch{reader: r, s: s, ctx: ctx, stop: stop, detach: context.AfterFunc(ctx, r.kill), start: time.Now()}, nil
}

// close ends the batch. It also ends the process unless another batch can reuse it.
func (b *batch) close() {
	isAlive := b.detach()
	b.stop()
	took := time.Since(b.start)
	var exit int
	var complaint string
	if !isAlive || b.isBroken || b.asked > 0 || !b.s.readers.keepIdle(b.reader) {
		exit = max(0, b.endProcess())
		complaint = b.err.String()
	}
	b.s.logOf(b.ctx).writeLine(subjectOf(b.ctx), "cat-file", []string{"--batch-command"}, exit, took, complaint)
}

// processError converts a failure of the process to an error with its last message.
func (b *batch) processError(err error) error {
	b.isBroken = true
	if b.ctx.Err() != nil {
		return contextError(b.ctx, "cat-file")
	}
	b.endProcess() // its last message may arrive with its end
	return company.E(company.EGit, "git cat-file ended unexpectedly").Because(strings.TrimSpace(b.err.String())).Wrap(err)
}

// object is the metadata of an object.
type object struct {
	id   company.OID
	kind string // commit, tree, blob, tag; empty if missing
	size int64
}

// readInfos reads the metadata of many objects. It sends requests in groups that are small enough not to block on a
// full pipe.
func (b *batch) readInfos(ids []company.OID) ([]object, error) {
	out := make([]object, 0, len(ids))
	for len(ids) > 0 {
		n := min(len(ids), 256)
		var q bytes.Buffer
		for _, id := range ids[:n] {
			q.WriteString("info ")
			q.WriteString(string(id))
			q.WriteByte('\n')
		}
		if _, err := b.in.Write(q.Bytes()); err != nil {
			return nil, b.processError(err)
		}
		for range n {
			o, err := b.readHeader()
			if err != nil {
				return nil, err
			}
			out = append(out, o)
		}
		ids = ids[n:]
	}
	return out, nil
}

// readHeader reads one answer line: "<oid> <kind> <size>" or "<oid> missing".
func (b *batch) readHeader() (object, error) {
	line, err := b.out.ReadString('\n')
	if err != nil {
		return object{}, b.processError(err)
	}
	f := strings.Fields(line)
	if len(f) == 2 && f[1] == "missing" {
		return object{}, nil
	}
	if len(f) == 3 {
		if size, err := strconv.ParseInt(f[2], 10, 64); err == nil {
			return object{id: company.OID(f[0]), kind: f[1], size: size}, nil
		}
	}
	return object{}, b.processError(fmt.Errorf("unexpected answer %q", line))
}

func (b *batch) readInfo(id company.OID) (object, error) {
	objects, err := b.readInfos([]company.OID{id})
	if err != nil {
		return object{}, err
	}
	return objects[0], nil
}

// copyTo streams the content of an object that must have the given kind and at most limit bytes.
func (b *batch) copyTo(w io.Writer, id company.OID, kind string, limit int64) error {
	object, err := b.readInfo(id)
	if err != nil {
		return err
	}
	if object.kind != kind {
		return company.E(company.ENotFound, fmt.Sprintf("there is no %s %s", kind, id))
	}
	if object.size > limit {
		return company.E(company.EObjects, fmt.Sprintf("the %s %s has %d bytes, more than %d", kind, id, object.size, limit))
	}
	if _, err := io.WriteString(b.in, "contents "+string(id)+"\n"); err != nil {
		return b.processError(err)
	}
	if object, err = b.readHeader(); err != nil {
		return err
	}
	if _, err := io.CopyN(w, b.out, object.size); err != nil {
		return b.processError(err)
	}
	if _, err := b.out.Discard(1); err != nil { // the newline after the content
		return b.processError(err)
	}
	return nil
}

func (b *batch) read(id company.OID, kind string, limit int64) ([]byte, error) {
	var buf bytes.Buffer
	err := b.copyTo(&buf, id, kind, limit)
	return buf.Bytes(), err
}

// maxAhead limits the objects that are requested before the first one is read. The requests fit into a pipe, so that
// neither side blocks.
const maxAhead = 32

// ask requests an object for a later readAsked.
func (b *batch) ask(id company.OID) error {
	b.asked++
	if _, err := io.WriteString(b.in, "contents "+string(id)+"\n"); err != nil {
		return b.processError(err)
	}
	return nil
}

// readAsked reads the oldest requested object, which must have the given kind and at most limit bytes. After an error
// the batch can read no more.
func (b *batch) readAsked(id company.OID, kind string, limit int64) ([]byte, error) {
	object, err := b.readHeader()
	if err != nil {
		return nil, err
	}
	if object.kind != kind {
		return nil, company.E(company.ENotFound, fmt.Sprintf("there is no %s %s", kind, id))
	}
	if object.size > limit {
		return nil, company.E(company.EObjects,
			fmt.Sprintf("the %s %s has %d bytes, more than %d", kind, id, object.size, limit))
	}
	text := make([]byte, object.size)
	if _, err := io.ReadFull(b.out, text); err != nil {
		return nil, b.processError(err)
	}
	if _, err := b.out.Discard(1); err != nil { // the newline after the content
		return nil, b.processError(err)
	}
	b.asked--
	return text, nil
}

// treeEntry is one line of a tree object. Names are bytes, not always UTF-8.
type treeEntry struct {
	mode int
	name string
	id   company.OID
}

func (b *batch) readTree(id company.OID) ([]treeEntry, error) {
	raw, err := b.read(id, "tree", maxTreeBytes)
	if err != nil {
		return nil, err
	}
	return parseTree(raw, len(id)/2)
}

// parseTree parses a tree object. idLen is the length of a raw id.
func parseTree(raw []byte, idLen int) ([]treeEntry, error) {
	var out []treeEntry
	for len(raw) > 0 {
		sp := bytes.IndexByte(raw, ' ')
		nul := bytes.IndexByte(raw, 0)
		if sp < 1 || nul <= sp || len(raw) < nul+1+idLen {
			return nil, company.E(company.EObjects, "a tree object is malformed")
		}
		mode, err := strconv.ParseInt(string(raw[:sp]), 8, 32)
		if err != nil {
			return nil, company.E(company.EObjects, "a tree object is malformed").Wrap(err)
		}
		out = append(out, treeEntry{
			mode: int(mode), name: string(raw[sp+1 : nul]),
			id: company.OID(hex.EncodeToString(raw[nul+1 : nul+1+idLen])),
		})
		raw = raw[nul+1+idLen:]
	}
	return out, nil
}

// Commit is a commit object.
type Commit struct {
	OID       company.OID
	Tree      company.OID
	Parents   []company.OID
	Author    Person
	Committer Person
	When      time.Time // of the committer
	Message   string
	Raw       string // the whole object
}

// Subject returns the first line of the message.
func (c Commit) Subject() string {
	s, _, _ := strings.Cut(c.Message, "\n")
	return s
}

func (b *batch) readCommit(id company.OID) (Commit, error) {
	raw, err := b.read(id, "commit", maxCommitBytes)
	if err != nil {
		return Commit{}, err
	}
	return parseCommit(id, raw)
}

// parseCommit parses a commit object. It accepts odd identities and dates. Of duplicate headers the first counts, as
// on forges.
func parseCommit(id company.OID, raw []byte) (Commit, error) {
	commit := Commit{OID: id, Raw: string(raw)}
	head, msg, _ := strings.Cut(commit.Raw, "\n\n")
	seen := map[string]bool{}
	commit.Message = msg
	for line := range strings.SplitSeq(head, "\n") {
		key, value, _ := strings.Cut(line, " ")
		if seen[key] && key != "parent" {
			continue
		}
		seen[key] = true
		switch key {
		case "tree":
			commit.Tree = company.OID(value)
		case "parent":
			commit.Parents = append(commit.Parents, company.OID(value))
		case "author":
			commit.Author, _ = parsePerson(value)
		case "committer":
			commit.Committer, commit.When = parsePerson(value)
		}
	}
	if !commit.Tree.Valid() {
		return Commit{}, company.E(company.EObjects, "the commit "+string(id)+" is malformed")
	}
	return commit, nil
}

// parsePerson parses "name <email> seconds zone".
func parsePerson(v string) (Person, time.Time) {
	name, rest, _ := strings.Cut(v, " <")
	email, when, _ := strings.Cut(rest, "> ")
	sec, _, _ := strings.Cut(when, " ")
	n, _ := strconv.ParseInt(sec, 10, 64)
	return Person{Name: name, Email: email}, time.Unix(n, 0).UTC()
}
