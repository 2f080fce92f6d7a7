package intake

import (
	"context"
	"errors"
	"time"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/safetext"
)

// Config is what an intake is made of.
type Config struct {
	Decider  company.Decider
	Mirrors  gitops.MirrorSource
	Images   ImageMaker
	Projects Projects
	Prefix   string // git.integration_branch
	Log      *gitops.OpLog
	Watcher  Watcher       `part:"optional"`
	Branches BranchLocator `part:"optional"` // nil: at the project's remote
	// EarlyAfter is how long an image may take before workers get one that has nothing compiled;
	// 0: company.EarlyAfter.
	EarlyAfter time.Duration
	// Lines places the line by which a base has a check. Nil: none is offered.
	Lines LinePlacer `part:"optional"`
}

// LinePlacer finds the file that a line of the config for a task belongs into.
type LinePlacer interface {
	// PlaceLine gives the line with its file, or nil where it cannot be written.
	PlaceLine(ctx context.Context, t company.TaskID, l company.ConfigLine) *company.ConfigLine
}

// Watcher follows preparations. Its methods must be quick.
type Watcher interface {
	// WatchImage gets each wish of the project that the image of a task does not
	// meet.
	WatchImage(t company.TaskID, note string)
}

// ImageMaker has the images of tasks; *image.Builder is one.
type ImageMaker interface {
	// FindLocal gives the id of an image by its key; empty: it is not there.
	FindLocal(ctx context.Context, key string) (id string, err error)
	// Ensure has an image there.
	Ensure(ctx context.Context, req image.Request) (image.Image, error)
	// EnsureUncompiled has an image there without the layers that compile its base; ok is
	// false, and no image is made, where the image has no such layer.
	EnsureUncompiled(ctx context.Context, req image.Request) (img image.Image, ok bool, err error)
	// Explain tells what an image is made from.
	Explain(ctx context.Context, req image.Request) (image.Explanation, error)
	// Resolve makes the lock files that the tree of a request lacks.
	Resolve(ctx context.Context, req image.Request) (image.Resolved, error)
	// KeepMade gives a JSON text that was made for a project of these inputs, or makes and keeps
	// it.
	KeepMade(ctx context.Context, project string, inputs []string, make func(context.Context) ([]byte, error)) ([]byte, error)
	// Relock makes lock files of the tree of a request anew.
	Relock(ctx context.Context, req image.Request, locks []ecosystem.LockConflict) ([]ecosystem.MadeFile, error)
}

// BranchLocator knows in which repository the branch of a pull request is, which
// may be a fork.
type BranchLocator interface {
	// BranchURL is its URL; remote is the project's.
	BranchURL(ctx context.Context, lead *company.Task, remote string) (string, error)
}

// Intake carries out prepare and image effects: it finds out where a task starts from
// and pins the gates there, and then has the image made.
type Intake struct{ Config }

// New checks that nothing is missing that an intake needs.
func New(c Config) (*Intake, error) {
	if c.Watcher == nil {
		c.Watcher = unwatched{}
	}
	return &Intake{c}, company.CheckParts(c)
}

// unwatched is a Watcher that keeps nothing of what it is given.
type unwatched struct{}

func (unwatched) WatchImage(company.TaskID, string) {}

var (
	_ company.OutcomeFinder = (&Intake{}).FindBase
	_ company.OutcomeFinder = (&Intake{}).MakeImage
)

// FindBase finds where a task starts from and how it is judged. It reads git objects
// alone, so that planning can begin; what the project asks of its image is read, and
// refused where the president has not let it, before anything is spent.
func (in *Intake) FindBase(ctx context.Context, e company.Effect) (company.Command, error) {
	s := in.Decider.View()
	t, err := s.Task(e.Task)
	if err != nil {
		return nil, err
	}
	p, err := in.Projects.SettingsOf(ctx, t)
	if err != nil {
		return nil, err
	}
	m, err := in.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	if lead := s.LeadOf(t); lead != t {
		return in.findFollowUpBase(ctx, s, t, lead, m, p)
	}
	info, err := m.FetchBase(ctx, in.Log, gitops.Source{Path: t.Project.Path}, t.Base)
	if err == nil && len(t.After) > 0 {
		info, err = in.takeMerged(ctx, m, t, info)
	}
	if err != nil {
		return nil, markNeedsPerson(err)
	}
	branch, err := gitops.IntegrationBranch(in.Prefix, t.ID, s.Office.ID)
	if err != nil {
		return nil, markNeedsPerson(err)
	}
	if err := m.HasFolders(ctx, info.OID, p.Paths); err != nil {
		return nil, markNeedsPerson(err)
	}
	found, err := gates.Detect(ctx, m, info.OID, p.gateOptions())
	if err != nil {
		return nil, err
	}
	if _, err := p.imageRequest(ctx, m, info.OID, info.OID, found); err != nil {
		return nil, err
	}
	base := company.Base{Branch: info.Branch, OID: info.OID, PRBranch: info.Branch, Dirty: info.Dirty, Ahead: info.AheadOfRemote}
	if !info.RemoteHasBranch && info.DefaultBranch != "" {
		base.PRBranch = info.DefaultBranch
	}
	beside := found.BesideChecks()
	if line, ok := found.TestLine(); ok && len(found.Gates) == 0 && in.Lines != nil {
		beside.Line = in.Lines.PlaceLine(ctx, t.ID, line)
	}
	return company.RecordBase{Task: t.ID, TaskBased: company.TaskBased{
		Base: base, Gates: found.Gates, GateHash: gates.HashGates(found.Gates), Integration: branch, BesideChecks: beside,
	}}, nil
}

// MakeImage has the image of a task made whose base is found.
func (in *Intake) MakeImage(ctx context.Context, e company.Effect) (company.Command, error) {
	t, err := in.Decider.View().Task(e.Task)
	if err != nil {
		return nil, err
	}
	if t.Prepared == nil {
		return nil, company.E(company.EInternal, "an image is to be made for a task without a base")
	}
	m, err := in.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	stop := in.startEarly(ctx, t, m)
	img, locks, err := in.ensureImage(ctx, t, m)
	stop()
	if err != nil {
		return nil, err
	}
	p := *t.Prepared
	p.Image, p.ImageLayers, p.Locks, p.Notes = string(img.Key), shortLayers(img.Layers), locks, imageNotes(img)
	return company.RecordPreparation{Task: t.ID, TaskPrepared: p}, nil
}

// ensureImage makes the image of a task and reports its notes. locks is the tree
// with the lock files that were made for it; empty: the project has its own.
func (in *Intake) ensureImage(ctx context.Context, t *company.Task, m *gitops.Mirror) (img image.Image, locks company.OID, err error) {
	req, notes, err := in.resolveImage(ctx, t, m)
	if err != nil {
		return img, "", err
	}
	img, err = in.Images.Ensure(ctx, req)
	if err != nil {
		return img, "", err
	}
	for _, n := range append(notes, img.Notes...) {
		in.Watcher.WatchImage(t.ID, n)
	}
	return img, req.Repo.Locks, nil
}

// resolveImage is what the image of a task is asked for, with the lock files that are made
// where its project has none.
func (in *Intake) resolveImage(ctx context.Context, t *company.Task, m *gitops.Mirror) (req image.Request, notes []string, err error) {
	if req, err = in.requestImage(ctx, t, m); err != nil {
		return req, nil, err
	}
	resolved, err := in.Images.Resolve(ctx, req)
	if err != nil {
		return req, nil, err
	}
	if len(resolved.Locks) > 0 {
		req.Repo.Locks, err = m.AddFiles(ctx, req.Repo.Commit, resolved.Locks)
	}
	return req, resolved.Notes, err
}

// maxNotes and maxNote bound an image's notes in the ledger: they hold text of
// the repository.
const (
	maxNotes = 8
	maxNote  = 300
)

// imageNotes are the notes of an image, which may explain a failed check later.
func imageNotes(img image.Image) []string {
	var out []string
	for _, n := range img.Notes[:min(len(img.Notes), maxNotes)] {
		out = append(out, safetext.EscapeLine(n, maxNote))
	}
	return out
}

// markNeedsPerson marks what no second try will mend.
func markNeedsPerson(err error) error {
	var e *company.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case company.EInvalid, company.ENotFound, company.EProtected, company.EConflict:
		return e.NeedsPerson()
	}
	return err
}
