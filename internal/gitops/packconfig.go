package gitops

import (
	"strconv"
	"strings"

	"company/internal/gitops/gitexec"
)

// strictFsck makes git refuse transferred objects that it only warns about by default. With special files as
// symlinks, git would follow a link out of the tree.
func strictFsck() []gitexec.Setting {
	var out []gitexec.Setting
	for _, side := range []string{"fetch", "receive"} {
		for _, id := range []string{"gitattributesSymlink", "gitignoreSymlink", "mailmapSymlink"} {
			out = append(out, gitexec.Setting{side + ".fsck." + id, "error"})
		}
	}
	return out
}

// historyFsck accepts old defects in the operator's own history. Strict fsck turns warnings into errors, and many
// legitimate repositories have commits by tools that wrote odd dates, zones or modes. New commits of workers are
// checked by the strict rules.
func historyFsck() []gitexec.Setting {
	var out []gitexec.Setting
	for _, id := range []string{
		"badTimezone", "badDate", "badDateOverflow", "zeroPaddedDate", "missingSpaceBeforeDate",
		"badEmail", "missingEmail", "missingSpaceBeforeEmail", "badName", "missingNameBeforeEmail",
		"zeroPaddedFilemode", "nullSha1", "emptyName", "fullPathname", "hasDot", "hasDotdot", "hasDotgit",
		"gitmodulesUrl", "gitmodulesName", "gitmodulesPath", "gitmodulesUpdate", "gitmodulesParse", "gitmodulesBlob",
		"gitmodulesMissing", "gitmodulesSymlink",
	} {
		// emptyName, fullPathname, hasDot… are also only warnings, because the base is data that we never check out.
		out = append(out, gitexec.Setting{"fetch.fsck." + id, "warn"})
	}
	return out
}

// serveConfig returns the settings of pack processes that serve a container.
func (s *Store) serveConfig() []gitexec.Setting {
	return append(strictFsck(), []gitexec.Setting{
		{"core.hooksPath", s.hooksDir()},
		{"http.receivepack", "true"},
		{"http.getanyfile", "false"},
		{"receive.maxInputSize", strconv.Itoa(MaxPushBytes)},
		{"receive.unpackLimit", "1"},
		{"receive.denyDeletes", "true"},
		{"receive.shallowUpdate", "false"},
		// Avoid a process that would find no garbage.
		{"receive.autogc", "false"},
		// The alternate's references are the repository's own, which are requested anyway.
		{"core.alternateRefsCommand", "true"},
		// One file less to write and sync; git creates it in memory.
		{"pack.writeReverseIndex", "false"},
		{"receive.denyCurrentBranch", "refuse"},
		// Stream blobs over the limit instead of holding them in memory.
		{"core.bigFileThreshold", "16m"},
		// Keep the mapped windows of a large seed within the address space limit of the pack processes.
		{"core.packedGitLimit", "512m"},
		// The other end is a pipe on this machine, so searching for smaller deltas costs more time than it saves. Existing
		// deltas are sent unchanged.
		{"pack.window", "0"},
	}...)
}

// shellQuote quotes s for the shell to which git passes GIT_SSH_COMMAND.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
