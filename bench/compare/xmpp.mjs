// One XMPP user over plain TCP: signs in (SASL PLAIN), joins rooms, sends messages, and hears of those that come.
// Knows just enough XML: ejabberd writes no '<' inside a text, so stanzas are told apart by their end tags.

import net from "node:net";

const SERVER = "chat.localhost";
export const ROOMS = `conference.${SERVER}`;

/** A stanza that never ends is no stanza of ours. */
const STANZA_CHARS_MAX = 1_000_000;

export class User {
    /** `onMessage(id, archived)` is called for every message that comes; archived: it carries its archive's id. */
    constructor(name, onMessage) {
        this.name = name;
        this.onMessage = onMessage;
        this.text = "";
        this.awaited = null;
    }

    get address() {
        return `${this.name}@${SERVER}`;
    }

    async signIn(port) {
        this.socket = net.connect(port, "127.0.0.1");
        this.socket.setNoDelay(true);
        this.socket.setEncoding("utf8");
        this.socket.on("data", (text) => this.take(text));
        this.socket.on("error", (error) => this.awaited?.reject(error));
        this.socket.on("close", () => this.awaited?.reject(new Error(`${this.name}: the server hung up`)));
        const spaces = "xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams'";
        const open = `<stream:stream to='${SERVER}' version='1.0' ${spaces}>`;
        await this.ask(open, "</stream:features>");
        const plain = Buffer.from(`\0${this.name}\0secret`).toString("base64");
        await this.ask(`<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>${plain}</auth>`, "<success");
        await this.ask(open, "</stream:features>");
        await this.ask("<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>", "</iq>");
        await this.ask("<presence/>", "<presence");
    }

    /** The room is made where it is missing; its owner has to accept what it is like before others may come in. */
    async join(room, isOwner) {
        const muc = "<x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x>";
        await this.ask(`<presence to='${room}@${ROOMS}/${this.name}'>${muc}</presence>`, "code='110'");
        if (isOwner) {
            const form = "<x xmlns='jabber:x:data' type='submit'/>";
            const query = `<query xmlns='http://jabber.org/protocol/muc#owner'>${form}</query>`;
            await this.ask(`<iq type='set' id='own' to='${room}@${ROOMS}'>${query}</iq>`, "id='own'");
        }
    }

    /** Sends and does not wait. */
    send(to, type, id, body) {
        this.socket.write(`<message to='${to}' type='${type}' id='${id}'><body>${body}</body></message>`);
    }

    close() {
        this.awaited = null;
        this.socket.destroy();
    }

    /** Sends, and waits until something that contains `wanted` has come. One at a time. */
    ask(text, wanted) {
        return new Promise((resolve, reject) => {
            this.awaited = { wanted, resolve, reject };
            this.socket.write(text);
        });
    }

    take(text) {
        this.text += text;
        if (this.awaited) {
            if (this.text.includes("<failure") || this.text.includes("type='error'")) {
                this.awaited.reject(new Error(`${this.name}: ${this.text.slice(0, 300)}`));
            } else if (this.text.includes(this.awaited.wanted)) {
                this.awaited.resolve();
                this.awaited = null;
                this.text = "";
            }
            return;
        }
        let from = 0;
        for (let end; (end = this.text.indexOf("</message>", from)) >= 0; from = end + "</message>".length) {
            const stanza = this.text.slice(from, end);
            const tag = stanza.slice(stanza.indexOf("<message"));
            const id = / id='([^']*)'/.exec(tag.slice(0, tag.indexOf(">")))?.[1];
            this.onMessage(id, stanza.includes("<stanza-id "), stanza);
        }
        this.text = this.text.slice(from);
        if (this.text.length > STANZA_CHARS_MAX) {
            this.socket.destroy(new Error("a stanza without an end"));
        }
    }
}
