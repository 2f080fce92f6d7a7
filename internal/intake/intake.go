package intake

import (
	"context"
	"errors"

	"company/internal/company"
	"company/internal/gates"
	"company/internal/gitops"
	"company/internal/image"
	"company/internal/safetext"
	"company/internal/secret"
)

// Intake carries out prepare effects: it finds out where a task starts from,
// pins the gates there, and has the image made.
type Intake struct {
	Desk    company.Decider
	Mirrors gitops.MirrorSource
	Images  *image.Builder
	Base    string // container.image of the config: auto, or name@sha256:…
	Setup   []string
	// SetupEnv are the variables of container.setup_env with their values.
	SetupEnv map[string]secret.Value `part:"optional"`
	Offline  bool
	// Logins: the operator lets the repository use the logins to registries.
	Logins bool
	Lint   gates.CommandOverride
	Test   gates.CommandOverride
	Paths  []string // git.paths: the folders that the office is about; none: all
	Prefix string   // git.integration_branch
	Log    *gitops.OpLog
	// Tell gets each wish of the project that the image of a task does not
	// meet. Nil: not reported.
	Tell func(t company.TaskID, note string) `part:"optional"`
	// Branches is the URL of the repository that a pull request's branch is in,
	// which may be a fork; remote is the project's. Nil: the remote itself.
	Branches func(ctx context.Context, lead *company.Task, remote string) (string, error) `part:"optional"`
}

// Do prepares a task.
func (in *Intake) Do(ctx context.Context, e company.Effect) (company.Command, error) {
	s := in.Desk.View()
	t, err := s.Task(e.Task)
	if err != nil {
		return nil, err
	}
	m, err := in.Mirrors.MirrorOf(ctx, t)
	if err != nil {
		return nil, err
	}
	if lead := s.PRTask(t); lead != t {
		return in.followUp(ctx, s, t, lead, m)
	}
	info, err := m.FetchBase(ctx, in.Log, gitops.Source{Path: t.Project.Path}, t.Base)
	if err != nil {
		return nil, markNeedsPerson(err)
	}
	branch, err := gitops.IntegrationBranch(in.Prefix, t.ID, s.Office.ID)
	if err != nil {
		return nil, markNeedsPerson(err)
	}
	if err := m.HasFolders(ctx, info.OID, in.Paths); err != nil {
		return nil, markNeedsPerson(err)
	}
	found, err := gates.Detect(ctx, m, info.OID, gates.Options{Lint: in.Lint, Test: in.Test, Paths: in.Paths})
	if err != nil {
		return nil, err
	}
	img, err := in.ensureImage(ctx, t, in.imageRequest(m, info.OID, found.Toolchains))
	if err != nil {
		return nil, err
	}
	base := company.Base{Branch: info.Branch, OID: info.OID, PRBranch: info.Branch, Dirty: info.Dirty, Ahead: info.AheadOfRemote}
	if !info.RemoteHasBranch && info.DefaultBranch != "" {
		base.PRBranch = info.DefaultBranch
	}
	return company.RecordPreparation{Task: t.ID, TaskPrepared: company.TaskPrepared{
		Base: base, Gates: found.Gates, GateHash: gates.HashGates(found.Gates), Image: img.ID, Integration: branch, Notes: imageNotes(img),
	}}, nil
}

// ensureImage makes the image and reports its notes.
func (in *Intake) ensureImage(ctx context.Context, t *company.Task, req image.Request) (image.Image, error) {
	img, err := in.Images.Ensure(ctx, req)
	if err == nil && in.Tell != nil {
		for _, n := range img.Notes {
			in.Tell(t.ID, n)
		}
	}
	return img, err
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
