package toolproto

// PrepareRequest describes the workspace that Prepare sets up before the first turn.
type PrepareRequest struct {
	CloneURL string `json:"clone_url"` // http://127.0.0.1:<gateway port>/…
	// bare repository in the image that lends its objects; without one, all objects are fetched
	Baked   string `json:"baked,omitempty"`
	BaseOID string `json:"base_oid"` // the commit where the branch starts
	// Branch is the run's branch. If it exists at CloneURL and contains the start commit, work continues at its head.
	Branch      string `json:"branch"`
	AuthorName  string `json:"author_name"`
	AuthorEmail string `json:"author_email"`
	// Signoff adds the author's sign-off to the commits of git_commit and to checkpoint commits.
	Signoff bool `json:"signoff,omitempty"`
	// Paths are the folders to check out, with the files beside and above them. If it is empty, all are checked out. The
	// history is always complete.
	Paths []string `json:"paths,omitempty"`
	// Resume is the commit of a checkpoint. The branch starts at its parent, and the checkpoint's changes become
	// uncommitted changes in the work tree.
	Resume string `json:"resume,omitempty"`
	// Exact means that Resume is the checkpoint that the run's journal names, or that the journal names no checkpoint.
	// The workspace is restored to that state, whatever was pushed since. Without Exact, a newer commit of the branch
	// takes precedence over the checkpoint.
	Exact bool `json:"exact,omitempty"`
	// Holder counts the earlier holders of the run. It is part of process ids, so that the ids of an earlier container
	// are not used again.
	Holder int `json:"holder,omitempty"`
}

// PrepareResult describes the prepared workspace.
type PrepareResult struct {
	Head   string `json:"head"`
	Branch string `json:"branch"`
	Dirty  bool   `json:"dirty"`           // uncommitted work of a checkpoint was restored
	Exact  bool   `json:"exact,omitempty"` // everything that the checkpoint holds was restored
	Note   string `json:"note,omitempty"`  // set if the checkpoint was older than the branch
}

// ReadFileRequest asks for lines of a file. Offset is the first line, from 1.
type ReadFileRequest struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// ReadFileResult holds a part of a file in UTF-8, without a byte order mark. Line ends that are the same in the whole
// file are LF. Text renders the part for a model.
type ReadFileResult struct {
	Path       string `json:"path"`
	Content    []byte `json:"content"` // whole lines, unless a single line exceeds the limit
	FirstLine  int    `json:"first_line"`
	Lines      int    `json:"lines"`
	TotalLines int    `json:"total_lines"`
	Size       int64  `json:"size"`
	Truncated  bool   `json:"truncated"`        // there is more after Content
	Digest     string `json:"digest"`           // of the whole file
	Binary     bool   `json:"binary,omitempty"` // Content and the lines are left out
	// Encoding says how a file that is not UTF-8 is stored, and what that means for edits.
	Encoding string `json:"encoding,omitempty"`
}

// WriteFileRequest replaces or creates a file. Content is UTF-8. A file that exists keeps its encoding, byte order mark
// and line ends.
type WriteFileRequest struct {
	Path    string `json:"path"`
	Content []byte `json:"content"`
}

// WriteFileResult describes the written file.
type WriteFileResult struct {
	Path    string   `json:"path"`
	Bytes   int      `json:"bytes"`
	Created bool     `json:"created"`
	Kept    string   `json:"kept,omitempty"`   // the encoding and the line ends that the file kept, if they are unusual
	Syntax  []string `json:"syntax,omitempty"` // errors that a parser finds in the new text
	Digest  string   `json:"digest"`           // of the whole file
}

// EditFileRequest replaces Old by New, once or everywhere.
type EditFileRequest struct {
	Path       string `json:"path"`
	Old        string `json:"old"`
	New        string `json:"new"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

// EditFileResult describes the replacement.
type EditFileResult struct {
	Path         string   `json:"path"`
	Replacements int      `json:"replacements"`
	Line         int      `json:"line"`             // of the first replacement
	Note         string   `json:"note,omitempty"`   // the match was not exact
	Kept         string   `json:"kept,omitempty"`   // as in WriteFileResult
	Syntax       []string `json:"syntax,omitempty"` // errors that a parser finds in the result
	Digest       string   `json:"digest"`           // of the whole file
}

// SearchRequest looks for a regular expression (RE2) in files that match Glob.
type SearchRequest struct {
	Pattern string `json:"pattern"`
	Glob    string `json:"glob,omitempty"`
}

// SearchResult holds matching lines, ordered by path and line, and the number of matches.
type SearchResult struct {
	Matches   []Match    `json:"matches"`
	Files     int        `json:"files"`     // files searched
	Truncated bool       `json:"truncated"` // more lines match than are listed
	Hits      int        `json:"hits"`      // matching lines; if SearchCounted or more, a lower bound
	Found     int        `json:"found"`     // files with a matching line
	Most      []FileHits `json:"most"`      // the files with the most hits, at most SearchFiles
}

// Match is one line.
type Match struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// ListFilesRequest lists files that match Glob; "" lists all.
type ListFilesRequest struct {
	Glob string `json:"glob,omitempty"`
}

// ListFilesResult holds paths in order.
type ListFilesResult struct {
	Paths     []string `json:"paths"`
	Total     int      `json:"total"`
	Truncated bool     `json:"truncated"`
}

// RunRequest is one command, run by a fresh bash.
type RunRequest struct {
	Command    string            `json:"command"`
	TimeoutS   int               `json:"timeout_s,omitempty"` // 0 means 300; at most 3600, for an agent 900
	Background bool              `json:"background,omitempty"`
	Cwd        string            `json:"cwd,omitempty"` // folder in the workspace; empty means its root
	Env        map[string]string `json:"env,omitempty"`
	// ByAgent marks a command that an agent chose. Those of the blocklist are refused.
	ByAgent bool `json:"by_agent,omitempty"`
	// Programs lists the programs that the command may start, by the names of their files. Empty means all.
	Programs []string `json:"programs,omitempty"`
	// Live asks for the newest output while the command runs. It is sent as lines of Recent before the result.
	Live bool `json:"live,omitempty"`
	// OnOutput receives the newest output while the command runs and prints, at most once in LiveEvery. It is never sent:
	// client and server each set their own. If it is nil, no live output is requested.
	OnOutput func(recent string) `json:"-"`
}

// Recent is the output that a command printed last, of both streams in order. If a RunRequest is Live, such lines
// precede its result.
type Recent struct {
	Recent *string `json:"recent,omitempty"`
}

// RunResult reports how a command ended, or that it runs in the background.
type RunResult struct {
	ProcessID  string `json:"process_id"` // names the log, too
	Running    bool   `json:"running,omitempty"`
	ExitCode   int    `json:"exit_code"` // 128+n when signal n ended it
	Stdout     Output `json:"stdout"`
	Stderr     Output `json:"stderr"`
	TimedOut   bool   `json:"timed_out"`
	DurationMS int64  `json:"duration_ms"`
	LogBytes   int64  `json:"log_bytes"` // of the whole log that Client.Log fetches
	Note       string `json:"note,omitempty"`
}

// Output is the head and the tail of what a command wrote.
type Output struct {
	Head    string `json:"head"`
	Omitted int64  `json:"omitted,omitempty"` // bytes left out between head and tail
	Tail    string `json:"tail,omitempty"`
}

// ProcessRequest names a process that Run started.
type ProcessRequest struct {
	ProcessID string `json:"process_id"`
}

// ProcessList holds all running processes.
type ProcessList struct {
	Processes []Process `json:"processes"`
}

// Process is a running process.
type Process struct {
	ProcessID  string `json:"process_id"`
	Command    string `json:"command"`
	Background bool   `json:"background"`
	DurationMS int64  `json:"duration_ms"`
}

// GitStatusResult is the state of the work tree as git reports it.
type GitStatusResult struct {
	Branch    string      `json:"branch"` // "" when detached
	Head      string      `json:"head"`
	Unpushed  int         `json:"unpushed"` // commits that origin does not have yet
	Clean     bool        `json:"clean"`
	Files     []FileState `json:"files"`
	Truncated bool        `json:"truncated,omitempty"`
	// Ignored lists the files that tools wrote and that an ignore rule hides. Clean does not count them.
	Ignored []IgnoredFile `json:"ignored,omitempty"`
}

// FileState is one line of git status: Status is git's two letters.
type FileState struct {
	Status string `json:"status"`
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // former path if renamed
}

// GitCommitRequest commits Paths, or all changes that are not ignored if Paths is empty.
type GitCommitRequest struct {
	Message string   `json:"message"`
	Paths   []string `json:"paths,omitempty"`
	// When is the date of the commit, in seconds since 1970. 0 means now. With a fixed date, making the same commit again
	// gives the same id.
	When int64 `json:"when,omitempty"`
	// Join makes one commit of all that is new since the last push, whoever committed it and on which branch.
	Join bool `json:"join,omitempty"`
}

// GitCommitResult is the commit that the branch points to now, both here and at origin.
type GitCommitResult struct {
	Commit string      `json:"commit"`
	Branch string      `json:"branch"`
	Files  []FileState `json:"files"` // what the commit changed
	// Ignored lists the files that tools wrote and that an ignore rule hides.
	Ignored []IgnoredFile `json:"ignored,omitempty"`
}

// CheckpointRequest saves the work tree under refs/company/checkpoint/<Run>.
type CheckpointRequest struct {
	Run string `json:"run"`
}

// CheckpointResult names the saved state. Changed reports whether its tree differs from that of the previous
// checkpoint, or of the head that Prepare made. OID is empty as long as the workspace is as Prepare made it.
type CheckpointResult struct {
	OID     string `json:"oid"`
	Tree    string `json:"tree"`
	Changed bool   `json:"changed"`
	// Exact reports whether Prepare can restore the workspace, apart from ignored files, files outside of it, and
	// processes. If it cannot, Why gives the reason.
	Exact bool   `json:"exact"`
	Why   string `json:"why,omitempty"`
}

// RecallRequest lists the file contents that the agent knows, as a digest for each path.
type RecallRequest struct {
	Known map[string]string `json:"known"`
}

// PushResult is the branch as origin has it now.
type PushResult struct {
	Commit string `json:"commit"`
	Branch string `json:"branch"`
}

// Empty is a request or a result without fields.
type Empty struct{}
