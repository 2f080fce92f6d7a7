package merger

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/gitops"
)

// findLeftMarker returns the path and line of a conflict marker that a resolution leaves, or "". Documents and
// fixtures show markers on purpose. So a marker counts only if neither side of the merge explains it, in any file that
// differs from both sides.
func findLeftMarker(
	ctx context.Context, mirror *gitops.Mirror, sub *company.Subtask, head company.OID,
) (string, error) {
	paths, err := listMixed(ctx, mirror, sub, head)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	sides := []company.OID{sub.Head, sub.Conflict.Onto}
	base, err := mirror.MergeBase(ctx, sides[0], sides[1])
	if code := company.CodeOf(err); err != nil && code != company.EObjects && code != company.ENotFound {
		return "", err
	}
	// git in the container writes markers by the attributes of the side that is checked out.
	sizes, err := mirror.ReadAttributes(ctx, sub.Head, paths, []string{"conflict-marker-size"}, false)
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		size, err := strconv.Atoi(sizes[gitops.FileAttribute{Path: path, Name: "conflict-marker-size"}])
		if err != nil || size <= 0 {
			size = gitops.MarkerSize
		}
		var texts [4]string // of the resolution, both sides and their base
		for i, at := range []company.OID{head, sides[0], sides[1], base} {
			text, err := mirror.ReadFile(ctx, at, path)
			if err != nil && at != "" && company.CodeOf(err) != company.ENotFound {
				return "", err
			}
			texts[i] = string(text)
		}
		if text, lines := gitops.FindNewMarker(texts, size); text != "" {
			return fmt.Sprintf("%s, line %s (%.80q)", agent.JoinLines(path), strings.Join(lines, " or "), text), nil
		}
	}
	return "", nil
}

// listMixed lists the files of a resolution that differ from both sides of its merge. Only these can hold something
// that neither side had.
func listMixed(
	ctx context.Context, mirror *gitops.Mirror, sub *company.Subtask, head company.OID,
) (paths []string, err error) {
	ofTicket, err := mirror.Diff(ctx, sub.Head, head, 0)
	if err != nil {
		return nil, err
	}
	ofBranch, err := mirror.Diff(ctx, sub.Conflict.Onto, head, 0)
	if err != nil {
		return nil, err
	}
	for _, change := range ofTicket.Changes {
		if (change.NewMode == gitops.ModeFile || change.NewMode == gitops.ModeExec) &&
			slices.ContainsFunc(ofBranch.Changes, func(c gitops.FileChange) bool { return c.Path == change.Path }) {
			paths = append(paths, change.Path)
		}
	}
	return paths, nil
}
