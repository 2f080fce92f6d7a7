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
}

// PlanLine plans a line for a checkout, in the user's own file for that repository, or with
// tracked in the company.yaml of the checkout. Nothing is written. EConflict: the key is set
// elsewhere.
func (ent *Entrance) PlanLine(ctx context.Context, paths office.Paths, checkout string, tracked bool, l company.ConfigLine) (LinePlan, error) {
	p := LinePlan{Line: l, options: ent.loadOptionsFor(paths, checkout)}
	file, err := config.RepositoryFile(ent.Console.LookupEnv, checkout)
	begin := beginOwnFile(checkout)
	if tracked {
		begin = "" // it is there
		file, err = trackedFile(paths, checkout)
	}
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
	c.DryRun = false
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

// WriteLine writes a planned line.
// The keys that count only once the file is trusted are given.
func (ent *Entrance) WriteLine(ctx context.Context, p LinePlan) ([]config.TrustRequest, error) {
	if p.Holds {
		return nil, nil
	}
	changed, err := config.ChangeFile(ctx, p.options, p.change)
	return changed.Requests, err
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
