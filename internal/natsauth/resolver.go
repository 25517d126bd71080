package natsauth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/gorizond/koldun/internal/fault"
)

// A resolver asks the servers of a system, each of which keeps the accounts.
type resolver struct {
	nc      *nats.Conn
	servers int // that have to answer
}

// ask returns the answers of all servers to a request. Errors: Transient if one is
// missing, Denied.
func (r resolver) ask(ctx context.Context, subject string, body []byte) ([][]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	inbox := r.nc.NewInbox()
	sub, err := r.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot ask the NATS servers: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := r.nc.PublishRequest(subject, inbox, body); err != nil {
		return nil, fault.Errorf(fault.Transient, "cannot ask the NATS servers: %w", err)
	}
	var out [][]byte
	for len(out) < r.servers {
		m, err := sub.NextMsgWithContext(ctx)
		switch {
		case err == nil && m.Header.Get("Status") != "503":
			out = append(out, m.Data)
			continue
		case err == nil:
			err = errors.New("no server has a resolver of accounts (resolver: full)")
		case errors.Is(err, context.DeadlineExceeded):
			err = errors.New("no answer: are all servers up, and may the user of the system account publish on this subject?")
		}
		return nil, fault.Errorf(fault.Transient, "cannot ask the NATS servers on %q: %d of %d have answered: %w", subject, len(out), r.servers, err)
	}
	return out, nil
}

// confirm sends a request that every server has to confirm. Errors: Invalid with the
// reason of a server that refuses it; those of ask.
func (r resolver) confirm(ctx context.Context, subject string, body []byte) error {
	answers, err := r.ask(ctx, subject, body)
	if err != nil {
		return err
	}
	for _, answer := range answers {
		var said struct {
			Data struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"data"`
			Error struct {
				Description string `json:"description"`
			} `json:"error"`
		}
		if err := json.Unmarshal(answer, &said); err != nil {
			return fault.Errorf(fault.Corrupt, "cannot read the answer of a NATS server on %q: %w", subject, err)
		}
		if said.Error.Description != "" || said.Data.Code != 200 {
			return fault.Errorf(fault.Invalid, "a NATS server refuses it: %s%s", said.Error.Description, said.Data.Message)
		}
	}
	return nil
}

// list returns how many servers have each account.
func (r resolver) list(ctx context.Context) (map[string]int, error) {
	answers, err := r.ask(ctx, "$SYS.REQ.CLAIMS.LIST", nil)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, answer := range answers {
		var said struct {
			Data []string `json:"data"`
		}
		if err := json.Unmarshal(answer, &said); err != nil {
			return nil, fault.Errorf(fault.Corrupt, "cannot read the list of NATS accounts: %w", err)
		}
		for _, id := range said.Data {
			out[id]++
		}
	}
	return out, nil
}

// find returns the newest JWT of an account, or "" if no server has it.
func (r resolver) find(ctx context.Context, account string) (string, error) {
	answers, err := r.ask(ctx, "$SYS.REQ.ACCOUNT."+account+".CLAIMS.LOOKUP", nil)
	if err != nil {
		return "", err
	}
	newest, at := "", time.Time{}
	for _, answer := range answers {
		if issued := issuedAt(string(answer)); len(answer) > 0 && (newest == "" || issued.After(at)) {
			newest, at = string(answer), issued
		}
	}
	return newest, nil
}

// trust returns the keys whose signature every server accepts for accounts.
func (r resolver) trust(ctx context.Context) (map[string]int, error) {
	answers, err := r.ask(ctx, "$SYS.REQ.SERVER.PING.VARZ", nil)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, answer := range answers {
		var said struct {
			Data struct {
				Operators []struct {
					Subject string `json:"sub"`
					Nats    struct {
						Keys []string `json:"signing_keys"`
					} `json:"nats"`
				} `json:"trusted_operators_claim"`
			} `json:"data"`
		}
		if err := json.Unmarshal(answer, &said); err != nil {
			return nil, fault.Errorf(fault.Corrupt, "cannot read the operators of a NATS server: %w", err)
		}
		for _, o := range said.Data.Operators {
			for _, key := range append(o.Nats.Keys, o.Subject) {
				out[key]++
			}
		}
	}
	return out, nil
}

// disk returns the bytes that accounts of a single server may reserve together, 0 if it
// is one of a cluster, which does not check.
func (r resolver) disk(ctx context.Context) (int64, error) {
	answers, err := r.ask(ctx, "$SYS.REQ.SERVER.PING.JSZ", nil)
	if err != nil {
		return 0, err
	}
	var said struct {
		Data struct {
			Config struct {
				MaxStore int64 `json:"max_storage"`
			} `json:"config"`
			Meta json.RawMessage `json:"meta_cluster"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answers[0], &said); err != nil {
		return 0, fault.Errorf(fault.Corrupt, "cannot read the storage of a NATS server: %w", err)
	}
	if len(said.Data.Meta) > 0 {
		return 0, nil
	}
	return said.Data.Config.MaxStore, nil
}
