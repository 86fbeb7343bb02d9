import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.ExtractionsApi;

/**
 * Reads extractions with the generated client, and writes each as JSON in a line, or the error that it got instead. Arguments: the address
 * of the API, and ids.
 */
class Read {
  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(args[0]);
    for (int index = 1; index < args.length; index += 1) {
      try {
        var extraction = new ExtractionsApi(client).getExtraction(UUID.fromString(args[index]));
        var kind = extraction.getActualInstance().getClass().getSimpleName();
        System.out.println(kind + " " + client.getObjectMapper().writeValueAsString(extraction));
      } catch (ApiException error) {
        System.out.println("Error " + error.getCode() + " " + error.getResponseBody());
      }
    }
  }
}
