package report

import (
	"time"

	"company/internal/company"
	"company/internal/present/view"
)

// LogStatus is the status of a task in its log.
type LogStatus string

const (
	LogQueued     LogStatus = "queued"
	LogRunning    LogStatus = "running"
	LogComplete   LogStatus = "complete"
	LogIncomplete LogStatus = "incomplete" // cancelled, or complete without a changed file
	LogError      LogStatus = "error"
)

// TaskLog is the log of one task, logs/task-NNN.json below the runtime folder (LOG-2, LOG-3).
type TaskLog struct {
	SchemaVersion int            `json:"schema_version"`
	LogID         string         `json:"log_id"`
	TaskID        company.TaskID `json:"task_id"`
	SessionID     string         `json:"session_id"` // the office
	Status        LogStatus      `json:"status"`
	StartedAt     time.Time      `json:"started_at"`
	EndedAt       *time.Time     `json:"ended_at"`
	ErrorReason   string         `json:"error_reason,omitempty"` // never empty for incomplete and error
	Artifacts     []string       `json:"artifacts"`              // paths of the files that its tickets changed
	Events        []Event        `json:"events"`                 // once the task has ended
	// VerificationRoot is the absolute path of the president's checkout. Paths are relative to it. A file exists if it is
	// in the tree VerificationTree of the commit VerificationHead: the work is done in containers and reaches the
	// checkout with the merge.
	VerificationRoot string      `json:"verification_root"`
	VerificationHead company.OID `json:"verification_head,omitempty"`
	VerificationTree company.OID `json:"verification_tree,omitempty"`
	VerifiedFiles    []File      `json:"verified_files"`
	Modified         int         `json:"files_modified_count"`
}

// File is a file that the company looked for (GAT-4).
type File struct {
	Path       string      `json:"path"` // relative to the repository
	Action     string      `json:"action,omitempty"`
	Hash       company.OID `json:"hash,omitempty"` // of its content, as git has it
	Exists     bool        `json:"exists"`
	DetectedAt time.Time   `json:"detected_at"`
	// Method is diff for a file that git shows as changed, and executor_claim for one that only a ticket changed.
	Method string `json:"detection_method"`
}

// IndexEntry is a line of logs/index.ndjson. Each task has one log, and each log one task (LOG-4).
type IndexEntry struct {
	ExternalTaskID company.TaskID `json:"external_task_id"`
	LogID          string         `json:"log_id"`
}

// NewTaskLog returns the log of a task. events are the task's events in the ledger, in order.
func NewTaskLog(src view.Source, task *company.Task, events []company.Event) TaskLog {
	log := TaskLog{
		SchemaVersion: 1, LogID: task.ID.LogID(), TaskID: task.ID, SessionID: src.State.Office.ID, Status: LogRunning,
		StartedAt: task.Submitted.UTC(), Artifacts: []string{}, Events: listEvents(events, 0),
		VerificationRoot: task.Project.Path, VerifiedFiles: listFiles(task), Modified: countModified(task),
	}
	for _, file := range log.VerifiedFiles {
		log.Artifacts = append(log.Artifacts, file.Path)
	}
	if task.Evidence != nil {
		log.VerificationHead, log.VerificationTree = task.Evidence.Head, task.Evidence.Tree
	} else {
		log.VerificationHead, log.VerificationTree = task.Head, task.Tree
	}
	switch {
	case task.Status == company.StatusPending:
		log.Status = LogQueued
	case task.Status == company.StatusCompleted && log.Modified > 0:
		log.Status = LogComplete
	case task.Status == company.StatusCompleted:
		log.Status, log.ErrorReason = LogIncomplete, company.NoEvidence+": no file was changed"
	case task.Status == company.StatusCancelled:
		log.Status, log.ErrorReason = LogIncomplete, src.Summary(task).Why
	case task.Status == company.StatusFailed:
		log.Status, log.ErrorReason = LogError, src.Summary(task).Why
	}
	if task.Status.Ended() {
		at := task.Ended.UTC()
		log.EndedAt = &at
	}
	return log
}

// Encode returns the log as JSON.
func (l TaskLog) Encode() ([]byte, error) { return encodeFile(l) }

// listFiles lists the changed files of a task. A task without evidence has those of its merged tickets, as git showed
// them when a run ended.
func listFiles(task *company.Task) []File {
	files := []File{}
	if evidence := task.Evidence; evidence != nil {
		for _, verified := range evidence.Files {
			file := File{Path: verified.Path, Action: verified.Action, Hash: verified.Hash, Exists: verified.Exists,
				DetectedAt: evidence.At.UTC(), Method: "diff"}
			if verified.Action == "" {
				file.Method = "executor_claim"
			}
			files = append(files, file)
		}
		return files
	}
	seen := map[string]bool{}
	for i := len(task.Subtasks) - 1; i >= 0; i-- { // the newest change of a file counts
		sub := task.Subtasks[i]
		for _, change := range sub.Changes {
			if sub.Status == company.SubtaskCompleted && !seen[change.Path] {
				seen[change.Path] = true
				files = append(files, File{Path: change.Path, Action: change.Action, Hash: change.Hash,
					Exists: change.Action != "deleted", DetectedAt: sub.Times.Ended.UTC(), Method: "diff"})
			}
		}
	}
	return files
}

func countModified(task *company.Task) int {
	if task.Evidence != nil {
		return task.Evidence.CountModified()
	}
	return len(listFiles(task))
}
