// Asks for a key. It stays in this tab's memory and goes with each request as a header, never into an address.
import { useState } from "react";
import mark from "../mark.svg";

export function LoginPage({ message, onKey }: { message: string; onKey: (key: string) => Promise<void> }) {
  const [key, setKey] = useState("");
  const [asking, setAsking] = useState(false);
  const submit = async () => {
    setAsking(true);
    await onKey(key.trim());
    setAsking(false);
  };
  return (
    <main className="login">
      <div className="card">
        <span className="brand">
          <img src={mark} alt="" /> MARGIN
        </span>
        <h1>Log in</h1>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void submit();
          }}
        >
          <label>
            Key with the scope <code>read</code>
            <input
              type="password"
              autoComplete="off"
              spellCheck={false}
              placeholder="sk-mg-…"
              value={key}
              onChange={(event) => setKey(event.target.value)}
              required
              aria-describedby="login-message"
              autoFocus
            />
          </label>
          <p id="login-message" role="alert" className="error-text">
            {message}
          </p>
          <button type="submit" className="primary" disabled={asking || key.trim() === ""}>
            {asking ? "Asking …" : "Log in"}
          </button>
        </form>
        <p className="hint">
          An operator makes one with <code>margin keys create --name you --scope read</code>. It is kept for this tab only. To grade decisions it also needs{" "}
          <code>feedback</code>, to run experiments <code>admin</code>.
        </p>
      </div>
    </main>
  );
}
