package background

import (
	"encoding/json"
	"io"

	"company/internal/company"
)

// parcel is an instruction with its files, encoded for a background process.
type parcel struct {
	Instruction string
	Files       []company.AttachedFile
}

// maxParcel limits a parcel, in bytes. File contents are base64.
const maxParcel = company.MaxAttachedBytes/3*4 + 2*company.MaxInstruction + 1<<20

// writeInstruction writes the input that the process reads from stdin.
func (s Submission) writeInstruction(w io.Writer) error {
	if len(s.Files) == 0 {
		_, err := io.WriteString(w, s.Instruction)
		return err
	}
	return json.NewEncoder(w).Encode(parcel{s.Instruction, s.Files})
}

// ReadParcel reads an instruction with its files.
func ReadParcel(r io.Reader) (instruction string, files []company.AttachedFile, err error) {
	var p parcel
	if err := json.NewDecoder(io.LimitReader(r, maxParcel)).Decode(&p); err != nil {
		return "", nil, company.E(company.EUsage, "invalid instruction with files on stdin").Wrap(err).
			Fix(`company submit --attach FILE "…"`)
	}
	return p.Instruction, p.Files, nil
}
