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
	"company/internal/lib/lazyregexp"
)

// learnSize gives the builds of a repository enough disk space for its tree, when its first image is
// requested. It logs errors of git and goes on, because reading the tree reports them again.
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

// withTimeout limits the time for building an image, depending on the size of its repository.
func (b *Builder) withTimeout(ctx context.Context, req Request) (context.Context, context.CancelFunc) {
	b.learnSize(ctx, req)
	return context.WithTimeout(ctx, scaleTime(b.timeout, b.sizes.Of(req.project())))
}

// project returns the key by which the sizes of a request's builds are stored.
func (r Request) project() string {
	if r.Repo == nil {
		return ""
	}
	return r.Repo.MirrorDir
}

// projectName returns the id of the project in the store of mirrors. It is the same in all offices
// that work on a checkout and in a replay, regardless of the location of their stores.
func (r Repo) projectName() string { return strings.TrimSuffix(filepath.Base(r.MirrorDir), ".git") }

// treeSize returns the total size of the base's files, in bytes.
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

// Limits of the extra time for builds of a large tree.
const (
	usualDisk = 2 * container.GiB
	mostTimes = 4
)

// scaleTime scales a time limit by the disk space that the tree needs.
func scaleTime(usual time.Duration, l container.Limits) time.Duration {
	times := min(max(1, float64(l.LeastDisk)/float64(usualDisk)), mostTimes)
	return time.Duration(float64(usual) * times)
}

// shortage is the resource of which a build container had too little.
type shortage string

const (
	noShortage   shortage = ""
	outOfMemory  shortage = "memory"
	outOfStorage shortage = "storage"
)

// findShortage returns the resource that failed work was short of, if any.
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

// growLimits raises the limits of a project's builds, as far as the host allows.
func (k shortage) growLimits(sizes *container.Sizes, project string, had container.Limits) (container.Limits, bool) {
	if k == outOfStorage {
		return sizes.GrowDisk(project, had)
	}
	return sizes.Grow(project, had.MemoryBytes)
}

// describeGrowth describes the higher limits of the next attempt.
func (k shortage) describeGrowth(had, more container.Limits) string {
	if k == outOfStorage {
		return "more room for its files: they filled the work space of its container"
	}
	return fmt.Sprintf("%s of memory instead of %s", container.Size(more.MemoryBytes), container.Size(had.MemoryBytes))
}

// toError returns the error for work that does not fit into the largest container.
func (k shortage) toError(step string, had container.Limits, err error) error {
	fault := company.E(company.EImage, "out of memory while "+step).
		Because("its container had " + container.Size(had.MemoryBytes) + ", which is the limit here").
		Fix("set workers.memory to more than " + container.Size(had.MemoryBytes) + ", on a machine with enough memory")
	if k == outOfStorage {
		fault = company.E(company.EImage, "no space left while "+step).
			Because("a device was full, even with the largest allowed work space").
			Fix("free space on Docker's disk (docker system df); if it has enough, raise workers.memory: half of it is for " +
				"files")
	}
	fault.Details = company.DetailsOf(err)
	if fault.Details == "" && err != nil {
		fault.Details = err.Error()
	}
	return fault.NeedsPerson()
}

// diskFullRE matches messages of programs that ran out of disk space.
var diskFullRE = lazyregexp.New(
	`(?i)no space left on device|\bENOSPC\b|disk quota exceeded|write error \(disk full\?\)`)

func isDiskFull(output string) bool { return diskFullRE.MatchString(output) }

// stepTimeout is the error of a command that exceeded its time limit.
type stepTimeout struct {
	command string
	limit   time.Duration
	output  string
}

func (e *stepTimeout) Error() string {
	return fmt.Sprintf("%s did not end within %s", e.command, e.limit)
}

// explainTimeout converts a timeout of a step into an error that needs a person, because another
// attempt would take as long. It returns other errors unchanged.
func explainTimeout(err error, step ecosystem.Step) error {
	var late *stepTimeout
	if !errors.As(err, &late) {
		return err
	}
	fault := company.E(company.EImage, step.Failure).Because(late.Error()).Fix(step.Fix).NeedsPerson()
	fault.Details = late.output
	return fault
}
