package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/lazyregexp"
)

// learnSize gives the builds of a repository room for its tree, the first time that an
// image of it is asked for. An error of git comes up again where the tree is read.
func (b *Builder) learnSize(ctx context.Context, req Request) {
	project := req.project()
	if project == "" {
		return
	}
	b.learnedMu.Lock()
	defer b.learnedMu.Unlock()
	if b.learned[project] {
		return
	}
	size, err := treeSize(ctx, *req.Repo)
	if err != nil {
		b.log.InfoContext(ctx, "the size of a tree is not known", "err", err)
		return
	}
	b.learned[project] = true
	b.sizes.Learn(project, container.NeedOfTree(size))
}

// withTimeout bounds the making of an image, by the size of its repository.
func (b *Builder) withTimeout(ctx context.Context, req Request) (context.Context, context.CancelFunc) {
	b.learnSize(ctx, req)
	return context.WithTimeout(ctx, scaleTime(b.timeout, b.sizes.Of(req.project())))
}

// project is what the sizes of a request's builds are known by.
func (r Request) project() string {
	if r.Repo == nil {
		return ""
	}
	return r.Repo.MirrorDir
}

// projectName names the project of a repository: the id by which a store of mirrors has it.
// It is the same in every office that works on a checkout, and in a replay, wherever these
// have their stores.
func (r Repo) projectName() string { return strings.TrimSuffix(filepath.Base(r.MirrorDir), ".git") }

// treeSize is how many bytes the files of a base have.
func treeSize(ctx context.Context, repo Repo) (size int64, err error) {
	out, err := runGit(ctx, repo.MirrorDir, "", "ls-tree", "-r", "-l", "-z", "--full-tree", string(repo.Commit))
	if err != nil {
		return 0, err
	}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		meta, _, _ := bytes.Cut(entry, []byte{'\t'})
		if part := bytes.Fields(meta); len(part) == 4 {
			n, err := strconv.ParseInt(string(part[3]), 10, 64) // "-" of a submodule
			if err == nil {
				size += n
			}
		}
	}
	return size, nil
}

// Bounds of how much longer the builds of a large tree may take.
const (
	usualDisk = 2 * container.GiB
	mostTimes = 4
)

// scaleTime is the time of a build, by the room that its tree needs.
func scaleTime(usual time.Duration, l container.Limits) time.Duration {
	times := min(max(1, float64(l.LeastDisk)/float64(usualDisk)), mostTimes)
	return time.Duration(float64(usual) * times)
}

// shortage is what a build container had too little of.
type shortage string

const (
	noShortage   shortage = ""
	outOfMemory  shortage = "memory"
	outOfStorage shortage = "storage"
)

// findShortage tells of work that did not end well whether its container was too small.
func findShortage(s *buildSession, served error, exit container.Exit) shortage {
	switch {
	case served == nil && !s.failed:
		return noShortage
	case exit.OOMKilled:
		return outOfMemory
	case s.diskFull:
		return outOfStorage
	}
	return noShortage
}

// growLimits gives the builds of a project more, as far as the host has it.
func (k shortage) growLimits(sizes *container.Sizes, project string, had container.Limits) (container.Limits, bool) {
	if k == outOfStorage {
		return sizes.GrowDisk(project, had)
	}
	return sizes.Grow(project, had.MemoryBytes)
}

// describeGrowth says what another try has.
func (k shortage) describeGrowth(had, more container.Limits) string {
	if k == outOfStorage {
		return "more room for its files: they filled the work space of its container"
	}
	return fmt.Sprintf("%s of memory instead of %s", container.Size(more.MemoryBytes), container.Size(had.MemoryBytes))
}

// toError is the error of work for which no container is large enough.
func (k shortage) toError(step string, had container.Limits, err error) error {
	e := company.E(company.EImage, "out of memory while "+step).
		Because("its container had " + container.Size(had.MemoryBytes) + ", and no more is given here").
		Fix("set workers.memory to more than " + container.Size(had.MemoryBytes) + ", on a machine that has it")
	if k == outOfStorage {
		e = company.E(company.EImage, "no room for files while "+step).
			Because("a device was full, with the largest work space that is given here").
			Fix("free space on Docker's disk (docker system df); where that has some, raise workers.memory: half of it is for files")
	}
	e.Details = company.DetailsOf(err)
	if e.Details == "" && err != nil {
		e.Details = err.Error()
	}
	return e.NeedsPerson()
}

// diskFullRE matches what programs print whose files found no room.
var diskFullRE = lazyregexp.New(`(?i)no space left on device|\bENOSPC\b|disk quota exceeded|write error \(disk full\?\)`)

func isDiskFull(output string) bool { return diskFullRE.MatchString(output) }

// stepTimeout is the error of a command that did not end in its time.
type stepTimeout struct {
	command string
	limit   time.Duration
	output  string
}

func (e *stepTimeout) Error() string {
	return fmt.Sprintf("%s did not end within %s", e.command, e.limit)
}

// exitTimeout is the exit code of a command that was ended for its time.
const exitTimeout = 124

// explainTimeout makes the error of a step that did not end a person's: the next try
// would take as long.
func explainTimeout(err error, step ecosystem.Step) error {
	var late *stepTimeout
	if !errors.As(err, &late) {
		return err
	}
	e := company.E(company.EImage, step.Failure).Because(late.Error()).Fix(step.Fix).NeedsPerson()
	e.Details = late.output
	return e
}
