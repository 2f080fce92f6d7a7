package dockerfile

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/company/glob"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
)

// File is a file of the commit: its path, mode and object id.
type File struct {
	Path string
	Mode string // git mode: 100644, 100755, 120000
	ID   string
}

// Copy puts files into the image.
type Copy struct {
	Files  []CopiedFile // sorted by Place; if empty, an empty folder is created
	To     string       // absolute
	Folder bool         // To is a folder; otherwise it is the file's name or an existing folder
	Owner  string       // user[:group]; empty means root
	Mode   string       // in chmod syntax; empty keeps the files' modes
}

// CopiedFile is one file of a Copy.
type CopiedFile struct {
	Place string // path below the folder, or the name of the single file
	Mode  string // as in File
	ID    string // object id in the commit; empty if Text is used
	Text  string // content of a here-document
}

// fileSet holds the files that COPY sees, by their paths below its context.
type fileSet struct {
	files   []File
	leftOut bool // .dockerignore excluded at least one file
}

// Limits of the patterns that select copied files.
const (
	maxIgnoreRules = 10_000
	copySteps      = 1 << 30 // for matching all files against all patterns
)

// selectFiles returns the files below a folder that .dockerignore does not exclude.
func selectFiles(files []File, context string, ignore []byte, budget *int) (out fileSet, err error) {
	rules, err := readIgnore(ignore)
	if err != nil {
		return out, err
	}
	for _, file := range files {
		if context != "" {
			below, ok := strings.CutPrefix(file.Path, context+"/")
			if !ok {
				continue
			}
			file.Path = below
		}
		if rules.leavesOut(file.Path, budget) {
			out.leftOut = true
			continue
		}
		out.files = append(out.files, file)
	}
	slices.SortFunc(out.files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return out, checkBudget(*budget)
}

// checkBudget returns an error if the patterns are too expensive to match against all files.
func checkBudget(budget int) error {
	if budget >= 0 {
		return nil
	}
	return company.E(company.EImage,
		"the patterns of .dockerignore and COPY are too many or too complex for this repository").
		Because("matching them against all files would take too long").
		Fix("name folders instead of patterns with many wildcards").NeedsPerson()
}

// ignoreRules holds the lines of a .dockerignore.
type ignoreRules []ignoreRule

type ignoreRule struct {
	pattern glob.Glob
	keep    bool // an exception, which starts with "!"
}

func readIgnore(text []byte) (rules ignoreRules, err error) {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rest, keep := strings.CutPrefix(line, "!")
		pattern := strings.TrimPrefix(path.Clean("/"+strings.TrimSpace(rest)), "/")
		if pattern == "" {
			continue
		}
		parsed, err := glob.ParsePattern(pattern, glob.Ignore)
		if err != nil || len(rules) == maxIgnoreRules {
			if err == nil {
				err = fmt.Errorf("%d lines are allowed", maxIgnoreRules)
			}
			return nil, company.E(company.EImage,
				fmt.Sprintf("cannot read line %d of .dockerignore or of the paths to exclude", n)).
				Because(safetext.EscapeLine(err.Error(), 300)).Fix("fix the pattern, and commit the file").NeedsPerson()
		}
		rules = append(rules, ignoreRule{parsed, keep})
	}
	return rules, nil
}

// leavesOut reports whether a file is excluded. The last rule that matches the file or a folder above
// it decides.
func (r ignoreRules) leavesOut(file string, budget *int) (out bool) {
	for _, rule := range r {
		for p := file; p != "."; p = path.Dir(p) {
			if rule.pattern.MatchWithin(p, budget) {
				out = !rule.keep
				break
			}
		}
	}
	return out
}

var (
	ownerRE = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?$`)
	modeRE  = lazyregexp.New(`^([0-7]{3,4}|[ugoa]*[-+=][rwxX]*(,[ugoa]*[-+=][rwxX]*)*)$`)
)

// placeFiles adds a step that copies files of the commit.
func (t *translation) placeFiles(
	from instructions.SourcesAndDest, c Copy, exclude []string, line int, text string,
) error {
	if c.Owner != "" && !ownerRE.MatchString(c.Owner) || c.Mode != "" && !modeRE.MatchString(c.Mode) {
		return t.refuse(line, "invalid --chown or --chmod").Fix("write --chown=user:group and --chmod=755")
	}
	c.To = path.Join("/", joinDir(t.dir, from.DestPath))
	c.Folder = strings.HasSuffix(from.DestPath, "/") || from.DestPath == "." || strings.HasSuffix(from.DestPath, "/.") ||
		len(from.SourcePaths)+len(from.SourceContents) > 1
	without, err := readIgnore([]byte(strings.Join(exclude, "\n")))
	if err != nil {
		return err
	}
	for _, doc := range from.SourceContents {
		c.Files = append(c.Files, CopiedFile{Place: doc.Path, Mode: "100644", Text: doc.Data})
	}
	for _, src := range from.SourcePaths {
		found, folder := t.files.match(src, &t.copyBudget)
		if len(found) == 0 {
			return t.missingSource(src, line)
		}
		c.Folder = c.Folder || folder || len(found) > 1
		for _, foundFile := range found {
			if !without.leavesOut(foundFile.at.Path, &t.copyBudget) {
				c.Files = append(c.Files, CopiedFile{Place: foundFile.place, Mode: foundFile.at.Mode, ID: foundFile.at.ID})
			}
		}
		if path.Clean("/"+src) == "/" {
			t.addNote("%s:%d: the whole repository is copied, so every commit rebuilds the image: name what the steps need",
				safetext.EscapeLine(t.Path, 100), line)
		}
	}
	if err := checkBudget(t.copyBudget); err != nil {
		return err
	}
	for _, copiedFile := range c.Files {
		if !fs.ValidPath(copiedFile.Place) {
			return t.refuse(line, fmt.Sprintf("invalid file name %q", copiedFile.Place)).
				Fix("use names without .. and without an empty part")
		}
	}
	slices.SortStableFunc(c.Files, func(a, b CopiedFile) int { return strings.Compare(a.Place, b.Place) })
	t.noteUnseen(line, "what is copied", c.To)
	t.recipe.Steps = append(t.recipe.Steps, t.newStep(line, text, Step{Copy: &c}))
	return nil
}

func (t *translation) missingSource(src string, line int) error {
	where := "the repository"
	if t.context != "" {
		where = safetext.EscapeLine(t.context, 100) + " of the repository"
	}
	fault := t.refuse(line, fmt.Sprintf("%s has no file %s", where, src)).
		Because("only files of a task's base commit are copied")
	if t.files.leftOut {
		fault = fault.Because("only files of the commit are copied, except those in .dockerignore")
	}
	return fault.Fix("commit the file, or create it with RUN")
}

// foundFile is a file that matches a source, with its path below the destination.
type foundFile struct {
	at    File
	place string
}

// match returns the files that a source selects. The source is a file, a folder whose content is
// copied, or a pattern of those. folder is true if the files belong into a folder.
func (s fileSet) match(src string, budget *int) (found []foundFile, folder bool) {
	src = strings.TrimPrefix(path.Clean("/"+src), "/")
	if src == "" {
		for _, f := range s.files {
			found = append(found, foundFile{f, f.Path})
		}
		return found, true
	}
	depth := strings.Count(src, "/") + 1
	pattern, _ := glob.ParsePattern(src, glob.Plain) // an invalid pattern matches no file
	for _, file := range s.files {
		top := file.Path
		if parts := strings.SplitN(file.Path, "/", depth+1); len(parts) > depth {
			top = strings.Join(parts[:depth], "/")
		}
		if top != src && !pattern.MatchWithin(top, budget) {
			continue
		}
		if top == file.Path {
			found = append(found, foundFile{file, path.Base(file.Path)})
			continue
		}
		folder = true
		found = append(found, foundFile{file, strings.TrimPrefix(file.Path, top+"/")})
	}
	return found, folder
}
