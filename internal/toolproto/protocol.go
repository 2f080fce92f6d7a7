package toolproto

// PrepareRequest says what the workspace must be before the first turn.
type PrepareRequest struct {
	CloneURL string `json:"clone_url"`       // http://127.0.0.1:<gateway port>/…
	Baked    string `json:"baked,omitempty"` // bare repository in the image whose objects are borrowed; "" or absent: everything is fetched
	// BaseRef is the ref at CloneURL where the branch starts; BaseOID pins it
	// and wins. One of them must be given.
	BaseRef string `json:"base_ref,omitempty"`
	BaseOID string `json:"base_oid,omitempty"`
	// Branch is the run's branch. Where CloneURL has it already and it holds
	// the start, work goes on at its head.
	Branch      string `json:"branch"`
	AuthorName  string `json:"author_name"`
	AuthorEmail string `json:"author_email"`
	// Signoff adds the author's sign-off to what git_commit and a checkpoint
	// commit.
	Signoff bool `json:"signoff,omitempty"`
	// Paths are the folders that are checked out, with the files beside and
	// above them; none: all. The history is whole.
	Paths []string `json:"paths,omitempty"`
	// Resume is a checkpoint's commit: the branch starts at its parent, and
	// what the checkpoint has on top lies uncommitted in the work tree.
	Resume string `json:"resume,omitempty"`
	// Exact says that Resume is what the run's journal names, or that there is
	// none: the workspace becomes what it was then, whatever has been pushed
	// since. Without it a newer commit of the branch wins over the checkpoint.
	Exact bool `json:"exact,omitempty"`
	// Holder counts the earlier holders of the run. It is part of the ids of
	// processes: those of a container that is gone must not come again.
	Holder int `json:"holder,omitempty"`
	// Seeded is the part of the clone that was sent already. Nil: all is fetched.
	Seeded *Seeded `json:"seeded,omitempty"`
}

// BakedRequest asks for the history that the image brought along.
type BakedRequest struct {
	Path string `json:"path"` // a bare repository
}

// BakedResult names the commit whose history it is; "": there is none.
type BakedResult struct {
	Commit string `json:"commit,omitempty"`
}

// Seeded is the clone that was sent before Prepare, as packs by Client.Seed.
type Seeded struct {
	Refs map[string]string `json:"refs"` // what CloneURL serves: full name to object id
	// Fetch is set where the packs, and the baked ones, do not hold all of Refs.
	Fetch bool `json:"fetch,omitempty"`
}

// PrepareResult is the workspace as it stands.
type PrepareResult struct {
	Head   string `json:"head"`
	Branch string `json:"branch"`
	Dirty  bool   `json:"dirty"`           // uncommitted work of a checkpoint was restored
	Exact  bool   `json:"exact,omitempty"` // all that the checkpoint holds was restored
	Note   string `json:"note,omitempty"`  // a checkpoint that was older than the branch
}

// ReadFileRequest asks for lines of a file. Offset is the first line, from 1.
type ReadFileRequest struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// ReadFileResult has the bytes as they are. Text shows them to a model.
type ReadFileResult struct {
	Path       string `json:"path"`
	Content    []byte `json:"content"` // whole lines, unless a single one passes the limit
	FirstLine  int    `json:"first_line"`
	Lines      int    `json:"lines"`
	TotalLines int    `json:"total_lines"`
	Size       int64  `json:"size"`
	Truncated  bool   `json:"truncated"` // there is more after Content
	Digest     string `json:"digest"`    // of the whole file
	Binary     bool   `json:"binary,omitempty"`
}

// WriteFileRequest replaces or creates a file. Content is bytes, in base64 on
// the wire.
type WriteFileRequest struct {
	Path    string `json:"path"`
	Content []byte `json:"content"`
}

// WriteFileResult describes the written file.
type WriteFileResult struct {
	Path    string   `json:"path"`
	Bytes   int      `json:"bytes"`
	Created bool     `json:"created"`
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
	Syntax       []string `json:"syntax,omitempty"` // errors that a parser finds in the result
	Digest       string   `json:"digest"`           // of the whole file
}

// SearchRequest looks for a regular expression (RE2) in files that match Glob.
type SearchRequest struct {
	Pattern string `json:"pattern"`
	Glob    string `json:"glob,omitempty"`
}

// SearchResult holds lines of each file that matches, in order of path and line, and how many
// there are.
type SearchResult struct {
	Matches   []Match    `json:"matches"`
	Files     int        `json:"files"`     // files searched
	Truncated bool       `json:"truncated"` // more lines match than are listed
	Hits      int        `json:"hits"`      // lines that match; SearchCounted: at least
	Found     int        `json:"found"`     // files with a line that matches
	Most      []FileHits `json:"most"`      // of these files those with most hits, at most SearchFiles
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
	TimeoutS   int               `json:"timeout_s,omitempty"` // 0: 300; at most 3600, and an agent's 900
	Background bool              `json:"background,omitempty"`
	Cwd        string            `json:"cwd,omitempty"` // in the workspace; "" is its root
	Env        map[string]string `json:"env,omitempty"`
	// Live asks for the newest output while the command runs: before the result come
	// lines of Recent.
	Live bool `json:"live,omitempty"`
	// OnOutput receives the newest output, at most once in LiveEvery, while the command
	// runs and prints. It is on neither wire: each side sets its own. Nil: it is not asked for.
	OnOutput func(recent string) `json:"-"`
}

// Recent is what a command printed last, of both its streams as it came. Such lines stand
// before the result of a RunRequest that is Live.
type Recent struct {
	Recent *string `json:"recent,omitempty"`
}

// RunResult is how a command ended, or that it runs in the background.
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
	// Pipes are the exit codes along pipelines in which a part failed that the
	// exit code says nothing of.
	Pipes [][]int `json:"pipes,omitempty"`
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

// ProcessList is all processes that run.
type ProcessList struct {
	Processes []Process `json:"processes"`
}

// Process is one that runs.
type Process struct {
	ProcessID  string `json:"process_id"`
	Command    string `json:"command"`
	Background bool   `json:"background"`
	DurationMS int64  `json:"duration_ms"`
}

// GitStatusResult is what git says of the work tree.
type GitStatusResult struct {
	Branch    string      `json:"branch"` // "" when detached
	Head      string      `json:"head"`
	Unpushed  int         `json:"unpushed"` // commits that origin does not have yet
	Clean     bool        `json:"clean"`
	Files     []FileState `json:"files"`
	Truncated bool        `json:"truncated,omitempty"`
}

// FileState is one line of git status: Status is git's two letters.
type FileState struct {
	Status string `json:"status"`
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // of a rename
}

// GitCommitRequest commits Paths, or with none all changes that are not ignored.
type GitCommitRequest struct {
	Message string   `json:"message"`
	Paths   []string `json:"paths,omitempty"`
	// When dates the commit, in seconds since 1970; 0: now. The same commit
	// made again then has the same id.
	When int64 `json:"when,omitempty"`
}

// GitCommitResult is the commit that the branch now points to, here and at
// origin.
type GitCommitResult struct {
	Commit string      `json:"commit"`
	Branch string      `json:"branch"`
	Files  []FileState `json:"files"` // what the commit changed
}

// CheckpointRequest saves the work tree under refs/company/checkpoint/<Run>.
type CheckpointRequest struct {
	Run string `json:"run"`
}

// CheckpointResult names the saved state. Changed says that its tree differs
// from that of the checkpoint before (or of the head that Prepare made). OID is
// empty while everything is as Prepare made it.
type CheckpointResult struct {
	OID     string `json:"oid"`
	Tree    string `json:"tree"`
	Changed bool   `json:"changed"`
	// Exact says that Prepare can restore the workspace, except for ignored
	// files, files outside of it, and processes. Why names the obstacle.
	Exact bool   `json:"exact"`
	Why   string `json:"why,omitempty"`
}

// RecallRequest says which contents of files the agent knows: path to digest.
type RecallRequest struct {
	Known map[string]string `json:"known"`
}

// PushResult is what origin has now.
type PushResult struct {
	Commit string `json:"commit"`
	Branch string `json:"branch"`
}

// Empty is a request or a result that says nothing.
type Empty struct{}
