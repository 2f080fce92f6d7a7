package entrance

import (
	"context"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/office"
	"company/internal/safetext"
)

// LinePlan is a line of the config that was proposed, as it would come into a file.
type LinePlan struct {
	Line    company.ConfigLine // with its file and its text there
	Diff    string             // of the file
	Holds   bool               // there is nothing to do
	options config.LoadOptions
	change  config.Change
	again   func(context.Context) (LinePlan, error) // plans the same for the file as it is then
}

// maxReplans is how often a line is planned anew since its file was changed meanwhile.
const maxReplans = 10

// PlanLine plans a line for a checkout, in the user's own file for that repository, or with
// tracked in the company.yaml of the checkout. Nothing is written. EConflict: the key is set
// elsewhere.
func (ent *Entrance) PlanLine(ctx context.Context, paths office.Paths, checkout string, tracked bool, l company.ConfigLine) (LinePlan, error) {
	p := LinePlan{Line: l, options: ent.loadOptionsFor(paths, checkout),
		again: func(ctx context.Context) (LinePlan, error) { return ent.PlanLine(ctx, paths, checkout, tracked, l) }}
	file, err := config.RepositoryFile(ent.Console.LookupEnv, checkout)
	begin := beginOwnFile(checkout)
	if tracked {
		begin = "" // it is there
		file, err = trackedFile(paths, checkout)
	}
	if err != nil {
		return LinePlan{}, err
	}
	digest, err := config.FileDigest(file)
	if err != nil {
		return LinePlan{}, err
	}
	loaded, err := config.Load(ctx, p.options)
	if err != nil {
		return LinePlan{}, err
	}
	c, needed, err := config.PlanLine(loaded, file, l)
	if err != nil {
		return LinePlan{}, err
	}
	if !needed {
		p.Holds = true
		return p, nil
	}
	c.Begin, c.DryRun = begin, true
	changed, err := config.ChangeFile(ctx, p.options, c)
	if err != nil {
		return LinePlan{}, err
	}
	// The value may be a list with what the file had until now: of a file that changes meanwhile nothing is lost.
	c.DryRun, c.Digest = false, &digest
	p.change, p.Diff = c, changed.RenderDiff(file)
	p.Line.File, p.Line.Text = file, l.Key+": "+changed.Now
	return p, nil
}

// beginOwnFile is the first line of the user's own file for a repository. It names the checkout,
// which the file's name does not.
func beginOwnFile(checkout string) string {
	return "# " + safetext.EscapeLine(checkout, 300) + ": your own settings for this repository, above its company.yaml.\n"
}

// loadOptionsFor are those of the config for work on a checkout, without flags.
func (ent *Entrance) loadOptionsFor(paths office.Paths, checkout string) config.LoadOptions {
	o := ent.LoadOptions(paths, nil)
	if checkout != paths.Repo {
		o.Project = checkout
	}
	return o
}

// WriteLine writes a planned line, also where another one has come into its file meanwhile.
// The keys that count only once the file is trusted are given.
func (ent *Entrance) WriteLine(ctx context.Context, p LinePlan) ([]config.TrustRequest, error) {
	for tries := 0; !p.Holds; tries++ {
		changed, err := config.ChangeFile(ctx, p.options, p.change)
		if company.CodeOf(err) != company.EConflict || tries == maxReplans {
			return changed.Requests, err
		}
		if p, err = p.again(ctx); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// lineWriter writes lines for the tasks of an office.
type lineWriter struct {
	entrance *Entrance
	paths    office.Paths
}

var _ officeapp.LineWriter = lineWriter{}

func (w lineWriter) PlaceLine(ctx context.Context, checkout string, l company.ConfigLine) (company.ConfigLine, bool, error) {
	p, err := w.entrance.PlanLine(ctx, w.paths, checkout, false, l)
	return p.Line, err == nil && !p.Holds, err
}

func (w lineWriter) WriteLine(ctx context.Context, checkout string, l company.ConfigLine) error {
	p, err := w.entrance.PlanLine(ctx, w.paths, checkout, false, l)
	if err != nil {
		return err
	}
	_, err = w.entrance.WriteLine(ctx, p)
	return err
}
